-- The desk in step with the database: what became of a list while it stands on a screen.

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
