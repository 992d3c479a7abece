-- Reminders: drafts to people without an RSVP, and to guests with open questions.

-- Whether a reminder was sent in the last three days, so that it is too early for another.
create function private.is_reminder_recent(sent_at timestamptz) returns boolean
  -- Strict, so that it costs nothing for people who got no reminder.
  language sql stable strict
  return private.happened_within(sent_at, '3 days');

-- Whether at least half of the days between the acceptance's sending and the deadline are over, so that a reminder is not too
-- early.
create function private.is_half_over(told_at timestamptz, deadline date, today date) returns boolean
  language sql stable
  return now() - told_at >= (deadline - today) * interval '1 day';

-- Whether somebody still has to do what a reminder asks for: give an RSVP, once half of their days are over, or as a guest answer
-- questions. It sets no search path, so that PostgreSQL can inline it.
create function private.is_to_be_reminded(invitation private.invitations, template text, today date) returns boolean
  language sql stable
as $$
  select case template
    when 'reminder' then coalesce(
      private.rsvp_state(invitation.is_accepted, invitation.told_at, invitation.deadline, invitation.rsvp, today)
        in ('no answer', 'late') and private.is_half_over(invitation.told_at, invitation.deadline, today), false)
    else invitation.is_accepted and coalesce(invitation.rsvp, '') = 'coming'
      and private.has_open_questions(invitation.application_id) end
$$;

-- The applications with a letter of a template that is not sent yet: a draft, or one that is waiting, being sent, or failed.
create function private.with_unsent_letter(template text) returns setof uuid
  language sql stable set search_path = ''
as $$
  -- Each part has an index, so sent letters are not read.
  select application_id from private.letters
    where coalesce(letters.template, '') = with_unsent_letter.template and state = 'draft'
  union select application_id from private.deliveries
    where kind = 'letter' and state in ('waiting', 'sending', 'failed')
      -- A subquery: for a join, PostgreSQL would read all letters.
      and (select letters.template from private.letters where id = letter_id) = with_unsent_letter.template
$$;

-- The people of an edition to remind with a template (`wanted`), the earliest deadline first, at most 1,001. `reminder` is for
-- people without an RSVP, and `questions` for guests with open questions that can still be answered. `waiting` counts the people
-- with such a reminder that is not sent yet, and `reminded` those who got one in the last three days.
create function private.to_remind(template text, edition integer, today date, out wanted uuid[], out waiting bigint, out reminded bigint)
  language plpgsql stable
  -- PostgreSQL has no statistics of newly drafted reminders, and would choose a slow nested loop.
  set search_path = '' set enable_nestloop = off
as $$
begin
  with unsent as materialized (
    select application_id from private.with_unsent_letter(template) as application_id
  ), asked as (
    select application_id, deadline, unsent.application_id is not null as is_waiting,
      coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
    from private.invitations join private.statuses using (application_id) left join unsent using (application_id)
    where (to_remind.template = 'reminder' or (select private.has_required_questions(to_remind.edition)))
      and private.is_to_be_reminded(invitations, to_remind.template, today)
      and statuses.edition = to_remind.edition
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

-- The accepted people of the newest edition who were told without their link, have no RSVP, and can be sent a reminder now; up to a
-- thousand. After the deadline, a link would be refused.
create function private.told_without_link() returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return array(
    select application_id from private.invitations join private.statuses using (application_id)
    where edition = (select max(id) from private.editions) and not private.is_link_over(application_id)
      and is_without_link and is_accepted and told_at is not null and rsvp is null
      and not coalesce(private.is_reminder_recent(reminded_at), false) and not private.is_withdrawn(application_id)
      and application_id not in (select private.with_unsent_letter('reminder'))
    order by told_at, application_id limit 1000
  );
end
$$;

-- Drafts a reminder for each of these people who still needs one. Returns the applications of the drafts.
create function private.draft_reminders(template text, applications uuid[], today date) returns uuid[]
  language plpgsql set search_path = ''
as $$
declare
  drafted uuid[] := array[]::uuid[];
  application uuid;
begin
  for application in
    select application_id from private.invitations
    where application_id = any (applications)
      and private.is_to_be_reminded(invitations, draft_reminders.template, today)
    order by application_id
  loop
    if private.draft_from_template(application, template, true) is not null then drafted := drafted || application; end if;
  end loop;
  return drafted;
end
$$;
