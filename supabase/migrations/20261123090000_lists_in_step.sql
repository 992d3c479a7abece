-- The desk in step with the database: what became of a list while it stands on a screen, and decisions that are taken
-- back without taking back in silence what an applicant was told.

-- What became of a list that is on a screen. `shown` are its rows, {id, version}, the first thousand of them; `oldest` is
-- where it ends, null where it was read to its end. What comes back: the rows whose status changed, those that are gone,
-- and the newest hundred that the filter lets through and that are not shown (`unseen`). `more`: there may be more of
-- these.
create function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, null, 1000, 1000, me.blind);
  last_at timestamptz := coalesce((oldest ->> 'created_at')::timestamptz, '-infinity');
  last_id uuid := coalesce((oldest ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
begin
  if jsonb_array_length(shown) > 1000 then
    raise exception 'At most 1,000 applications are looked at again at once.' using errcode = '22023';
  end if;
  return (
    with of_list as materialized (
      select id, version from jsonb_to_recordset(shown) as of_list (id uuid, version integer)
    ), unseen as (
      select id, created_at from public.retreat_applications
      where id = any (found.ids) and id not in (select id from of_list) and (created_at, id) >= (last_at, last_id)
      order by created_at desc, id desc limit 101
    )
    select jsonb_build_object(
      'changed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'status', standing.status, 'version', standing.version)), '[]')
        from of_list join private.statuses as standing on application_id = id
        where standing.version <> of_list.version
      ),
      'gone', (
        select coalesce(jsonb_agg(id), '[]') from of_list
        where not exists (select from public.retreat_applications as application where application.id = of_list.id)
      ),
      'unseen', (
        select coalesce(jsonb_agg(to_jsonb(unseen)), '[]') from (select * from unseen limit 100) as unseen
      ),
      'more', (select count(*) from unseen) > 100 or (found.next is not null
        and ((found.next ->> 'created_at')::timestamptz, (found.next ->> 'id')::uuid) > (last_at, last_id))
    )
  );
end
$$;

revoke all on function public.desk_meanwhile(jsonb, jsonb, jsonb) from public, anon, authenticated;
grant execute on function public.desk_meanwhile(jsonb, jsonb, jsonb) to authenticated;

-- Sets statuses, each of them only where the application still stands as whoever decides saw it. `decisions` is an
-- array of {id, status, version, takes_back}; what comes back says of each what became of it: kept, stale (with who did
-- what meanwhile), told (it takes a decision back of which a letter has left), or gone. The same act again changes
-- nothing.
create or replace function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  application record;
  standing private.statuses;
  outcome text;
  last_change record;
  outcomes jsonb := '[]';
begin
  if jsonb_array_length(decisions) > 1000 then
    raise exception 'At most 1,000 applications are decided at once.' using errcode = '22023';
  end if;
  -- In one order, so that two who decide at the same time wait for each other and not in a circle.
  for decision in
    select distinct on (id) id, status, version, takes_back
    from jsonb_to_recordset(decisions) as sent (id uuid, status text, version integer, takes_back boolean) order by id
  loop
    select id, created_at into application
      from public.retreat_applications where id = decision.id for key share;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, created_at, status, version)
      values (application.id, application.created_at, 'new', 0) on conflict do nothing;
    select * into standing from private.statuses where application_id = application.id for update;
    select author, at, history.act into last_change
      from private.history where application_id = application.id and kind = 'status' order by id desc limit 1;
    if last_change.act = desk_decide.act and decision.status = standing.status then
      outcome := 'kept';
    elsif decision.version is distinct from standing.version then
      outcome := 'stale';
    elsif decision.takes_back and exists (
      select from private.letters
      where application_id = application.id and occasion = standing.status and state in ('sending', 'sent')
    ) then
      outcome := 'told';
    else
      outcome := 'kept';
      if decision.status is distinct from standing.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          application.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', standing.status)
        ) returning author, at, history.act into last_change;
        update private.statuses set status = decision.status, version = standing.version + 1
          where application_id = application.id returning * into standing;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', application.id, 'outcome', outcome, 'status', standing.status, 'version', standing.version,
      'author', last_change.author, 'at', last_change.at
    );
  end loop;
  return outcomes;
end
$$;
