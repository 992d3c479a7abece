alter table private.postman
  add column check_wanted_at timestamptz not null default '-infinity',
  add column check_begun_at timestamptz not null default '-infinity',
  add column checked_at timestamptz not null default '-infinity',
  add column findings jsonb not null default '[]';

-- How it stands with the letters: whom a decision waits for, what does not arrive, and whether anybody carries them.
-- Counted up to a thousand, as applications are.
create or replace function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', seen_at > now() - interval '1 minute',
        'is_automation_there', automation_seen_at > now() - interval '1 minute', 'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and check_wanted_at > now() - interval '1 minute',
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined}', occasion), occasion)
        from private.templates as template
      ),
      -- Drafts that somebody wrote to one person.
      'personal', (
        select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
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
        select jsonb_object_agg(name, jsonb_build_object('count', least(count, 1000), 'more', count > 1000))
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

-- Asks whoever carries letters how the mail server and the sender's domain are: it looks, and `desk_letters` has what it
-- found. Who asks while somebody looks hears of that.
create function public.desk_check_mail() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  update private.postman set check_wanted_at = now()
    where check_wanted_at not between now() - interval '10 seconds' and now();
  return jsonb_build_object('is_checking', true);
end
$$;

revoke all on function public.desk_check_mail() from public, anon, authenticated;
grant execute on function public.desk_check_mail() to authenticated;
