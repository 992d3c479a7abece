-- Reminders: drafts to people without an RSVP.

-- Whether a reminder was sent in the last three days, so that it is too early for another. A future time does not count: the
-- clock was set back.
create function private.is_reminder_recent(sent_at timestamptz) returns boolean
  language sql stable
  return sent_at > now() - interval '3 days' and sent_at <= clock_timestamp();

-- The people to remind, those with the earliest deadline first, at most 1,001. Also the number of people with a reminder that is
-- not sent yet, and of those who got one in the last three days.
create function private.to_remind(today date, out wanted uuid[], out waiting bigint, out reminded bigint)
  language plpgsql stable
  -- PostgreSQL has no statistics of newly drafted reminders, and would choose a slow nested loop.
  set search_path = '' set enable_nestloop = off
as $$
begin
  with unsent as materialized (
    -- Each part has an index, so sent letters are not read.
    select application_id from private.letters where coalesce(template, '') = 'reminder' and state = 'draft'
    union select application_id from private.deliveries
      where kind = 'letter' and state in ('waiting', 'sending', 'failed')
        -- A subquery: for a join, PostgreSQL would read all letters.
        and (select template from private.letters where id = letter_id) = 'reminder'
  ), asked as (
    select application_id, deadline, unsent.application_id is not null as is_waiting,
      coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
    from private.invitations left join unsent using (application_id)
    where private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) in ('no answer', 'late')
  )
  select array(
      select application_id from asked where not is_waiting and not is_reminded
      order by deadline, application_id limit 1001
    ),
    (select count(*) from asked where is_waiting),
    (select count(*) from asked where is_reminded and not is_waiting)
    into wanted, waiting, reminded;
end
$$;

-- Drafts reminders for people without an RSVP, those with the earliest deadline first, at most 1,000 at once. Nobody is
-- reminded twice in three days. The result is {drafted, late, waiting, reminded, more}. `late` counts the drafted ones whose
-- deadline has to be moved first. `waiting` counts people with a reminder that is not sent yet, and `reminded` those who got
-- one in the last three days. Repeating the act drafts none and returns the first result. A desk of version 1.0 sends no id.
create function public.desk_remind(act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  today constant date := private.today();
  found record;
  drafted uuid[] := array[]::uuid[];
  application uuid;
begin
  perform private.caller();
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_remind', variadic '{}') then
    return (select result from private.acts where acts.act = desk_remind.act);
  end if;
  perform from private.templates where name = 'reminder' for key share;
  found := private.to_remind(today);
  perform private.lock_for_letters(found.wanted[:1000]);
  for application in
    select application_id from private.invitations
    where application_id = any (found.wanted[:1000])
      and private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) in ('no answer', 'late')
    order by application_id
  loop
    if private.draft_from_template(application, 'reminder', true) is not null then drafted := drafted || application; end if;
  end loop;
  return private.end_act(act, jsonb_build_object(
    'drafted', cardinality(drafted),
    'late', (
      select count(*) from private.invitations
      where application_id = any (drafted) and deadline < today
    ),
    'waiting', found.waiting, 'reminded', found.reminded, 'more', cardinality(found.wanted) > 1000
  ));
end
$$;
