-- One application with everything that is known of it, its letters, how all letters stand, and where a filter is given its
-- place there.
create or replace function public.desk_application(application uuid, filter jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.whole(application, me.blind) || jsonb_build_object(
    'letters', private.letters_of(array[application], me.blind),
    'overview', private.letters_overview(),
    'stamp', private.stamp(application),
    'place', case when filter is not null then private.place(application, filter, me.blind) end
  );
end
$$;

-- The state of all letters: who waits for a letter, what did not arrive, and whether a server sends them. Counted up to a
-- thousand, as applications are.
create function private.letters_overview() returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', private.is_recent(seen_at), 'is_automation_there', private.is_recent(automation_seen_at),
        'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and private.is_recent(check_wanted_at),
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select private.up_to_thousand(count(*))
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined,reminder}', occasion), occasion)
        from private.templates as template
      ),
      -- Drafts that somebody wrote to one person.
      'personal', (
        select private.up_to_thousand(count(*))
        from (select from private.letters where state = 'draft' and occasion = '' limit 1001) as counted
      ),
      -- What was released and can still be stopped, by its act.
      'leaving', (
        select coalesce(jsonb_agg(to_jsonb(leaving) order by seconds), '[]')
        from (
          select act, count(distinct application_id), ceil(extract(epoch from max(due_at) - now()))::integer as seconds
          from private.letters
          where way in ('mail', 'automation') and state = 'waiting' and due_at > now() and attempts = 0
            and act is not null
          group by act
        ) as leaving
      ),
      'states', (
        select jsonb_object_agg(name, private.up_to_thousand(count))
        from (values
          ('waiting', (select count(*) from (
            select from private.letters where state in ('waiting', 'sending') limit 1001) as counted)),
          ('refused', (select count(*) from (
            select from private.letters where state = 'refused' limit 1001) as counted)),
          ('given up', (select count(*) from (
            select from private.letters where state = 'given up' limit 1001) as counted))
        ) as counts (name, count)
      )
    )
    from private.postman
  );
end
$$;

revoke all on function private.letters_overview() from public, anon, authenticated;

-- The same for the desk.
create or replace function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.letters_overview();
end
$$;

-- A page of fifty of these ids, the last of which says where the next one begins, and how all letters stand.
create or replace function private.letter_page(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object('letters', private.letters_shown(ids, blind), 'next', (
    select jsonb_build_object('at', coalesce(released_at, created_at), 'id', id)
    from private.letters where cardinality(ids) = 50 and id = ids[50]
  ), 'overview', private.letters_overview())
$$;
