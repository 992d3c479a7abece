-- For some applications: the status of each, whether the applicant comes, and whether the same e-mail applied again. It is one
-- query, since a call for each of a thousand would take longer than everything else.
create or replace function private.standings(applications uuid[], blind boolean) returns table (application_id uuid, standing jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    select application.id,
      jsonb_build_object(
        'status', coalesce(kept.status, 'new'),
        'version', coalesce(kept.version, 0),
        'same_email', not blind and exists (
          select from public.retreat_applications as other
          where private.person(other.email) = private.person(application.email) and other.id <> application.id
        )
      )
      -- Not called for the many who are not asked.
      || case when is_accepted then private.answer_shown(application.id) else private.no_answer() end
    from unnest(applications) as one (id)
      join public.retreat_applications as application using (id)
      left join private.statuses as kept on kept.application_id = application.id
      left join private.acceptances as acceptance on acceptance.application_id = application.id;
end
$$;

drop function public.desk_export(jsonb, jsonb);

-- Up to a thousand whole applications with what organisers did about them, fewer where they are long, and where to go on. As
-- json, which PostgreSQL puts together as text: as jsonb it would copy a megabyte twice.
create function public.desk_export(filter jsonb default '{}', after jsonb default null) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind);
  fitting integer;
begin
  -- Up to 16 MB and what passes them: no array is longer than 256, and nobody waits for that long.
  select count(*) into fitting from (
    select coalesce(sum(
      octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(phone)
      + octet_length(linkedin) + octet_length(company) + octet_length(custom_solution) + octet_length(reason)
      + (
        select coalesce(sum(octet_length(detail ->> 'note')), 0)
        from private.history where application_id = application.id and kind = 'note'
      )
    ) over (order by place rows between unbounded preceding and 1 preceding), 0) as former
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
  ) as sized where former < 16000000;
  if fitting < cardinality(found.ids) then
    found.ids := found.ids[:fitting];
    select jsonb_build_object('created_at', created_at, 'id', id) into found.next
      from public.retreat_applications where id = found.ids[fitting];
  end if;
  return json_build_object('next', found.next, 'applications', (
    select coalesce(json_agg(private.answers(application, me.blind) || (standing || made) order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      -- Not inner joins, of which PostgreSQL expects one row, and compares each of a thousand with each.
      left join private.standings(found.ids, me.blind) as standings on standings.application_id = id
      left join private.made_of(found.ids) as made_of on made_of.application_id = id
  ));
end
$$;

revoke all on function public.desk_export(jsonb, jsonb) from public, anon, authenticated;
grant execute on function public.desk_export(jsonb, jsonb) to authenticated;

-- How a letter stands, and what brings it there. It begins as a draft, or as `waiting`: a receipt, or what an automation is
-- told beside a letter.
--
-- | from             | to        | by                                                                                 |
-- | ---------------- | --------- | ---------------------------------------------------------------------------------- |
-- | draft            | waiting   | an organiser releases it: it is due, and can be stopped until it leaves            |
-- | draft            | sent      | an organiser sent it from their own mail program                                   |
-- | draft            | withdrawn | an organiser takes it or its template away, or another decision does               |
-- | waiting          | sending   | a server takes it upon itself, for as long as its lease                            |
-- | waiting          | withdrawn | an organiser stops it, another decision does, or of a receipt that nobody needs    |
-- | sending          | sending   | a server takes it whose lease ran out: nobody knows what became of that try        |
-- | sending          | waiting   | it is tried again later                                                            |
-- | sending          | sent      | the mail server took it, or the automation                                         |
-- | sending          | refused   | the mail server refused it for good                                                |
-- | sending          | given up  | it was tried often enough                                                          |
-- | sending          | withdrawn | a receipt that is too late; or instead of `waiting`, `refused` and `given up` where |
-- |                  |           | another decision came meanwhile (`withdrawn_at`), which takes back nothing that left |
-- | refused, given up | waiting  | an organiser or the operator tries again, or gives another address                 |
-- | refused, given up | sent     | an organiser told it otherwise                                                     |
-- | refused, given up | withdrawn | another decision                                                                  |
-- | withdrawn        | draft     | what it says is decided or asked for again                                         |
--
-- Nothing else sets a state. Whoever calls has locked the letters.
--
-- `due`: of those that are to wait or to be sent, until when. `author`: who withdraws them, null where a decision does.
-- `is_lost`: their server died at a try.
create or replace function private.move(
  wanted uuid[], state text, due timestamptz default null, author text default null, is_lost boolean default false
) returns setof private.letters
  language plpgsql rows 1 set search_path = ''
as $$
declare
  each_one uuid;
  letter private.letters;
  target text;
  is_retried boolean;
begin
  -- One after the other: a query of all of them would be planned anew for each letter that leaves.
  foreach each_one in array wanted loop
    select * into letter from private.letters where id = each_one for update;
    continue when not found;
    target := case
      when letter.state = 'sending' and letter.withdrawn_at is not null
        and move.state in ('waiting', 'refused', 'given up') then 'withdrawn'
      else move.state
    end;
    continue when (letter.state, target) not in (
      ('draft', 'waiting'), ('draft', 'sent'), ('draft', 'withdrawn'), ('waiting', 'sending'), ('waiting', 'withdrawn'),
      ('sending', 'sending'), ('sending', 'waiting'), ('sending', 'sent'), ('sending', 'refused'),
      ('sending', 'given up'), ('sending', 'withdrawn'), ('refused', 'waiting'), ('refused', 'sent'),
      ('refused', 'withdrawn'), ('given up', 'waiting'), ('given up', 'sent'), ('given up', 'withdrawn'),
      ('withdrawn', 'draft')
    );
    is_retried := letter.state in ('refused', 'given up') and target = 'waiting';
    update private.letters as moved set
      state = target,
      due_at = case when target in ('waiting', 'sending') then due end,
      attempts = case when is_retried then 0 when target = 'sending' then moved.attempts + 1 else moved.attempts end,
      uncertain = moved.uncertain + (letter.state = 'sending' and (is_lost or target = 'sending'))::integer,
      answer = case when is_retried or target = 'sent' then '' else moved.answer end,
      sent_at = case when target = 'sent' then now() end,
      withdrawn_at = case target
        when 'draft' then null when 'withdrawn' then coalesce(moved.withdrawn_at, now()) else moved.withdrawn_at
      end,
      withdrawn_by = case target when 'draft' then null when 'withdrawn' then move.author else moved.withdrawn_by end
      where id = each_one returning * into letter;
    return next letter;
  end loop;
end
$$;

-- What stands in place of an answer where the applicant is not asked.
create function private.no_answer() returns jsonb
  language sql immutable
  return '{"answer_state": null, "answer": null, "answered_at": null, "kept_until": null}'::jsonb;

revoke all on function private.no_answer() from public, anon, authenticated;

-- The answer of an application and its state.
create or replace function private.answer_shown(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return coalesce((
    select jsonb_build_object(
      'answer_state', private.answer_state(is_accepted, told_at, kept_until, answer, private.today()),
      'answer', answer, 'answered_at', answered_at, 'kept_until', kept_until)
    from private.acceptances where application_id = application and is_accepted
  ), private.no_answer());
end
$$;
