-- Standings: whether a guest comes.

-- The state of an RSVP; null if the applicant is not accepted. `not told`: no letter has asked yet. `late` is `no answer` after
-- the deadline.
create function private.rsvp_state(
  is_accepted boolean, told_at timestamptz, deadline date, rsvp text, today date
) returns text
  language sql immutable
  return case
    when not is_accepted then null
    when rsvp is not null then rsvp
    when told_at is null then 'not told'
    when deadline < today then 'late'
    else 'no answer'
  end;

-- The status of each application, and the RSVP of accepted ones. `person` is the same for all applications of one email.
create view private.standings as
  select application.id as application_id, private.person(application.email) as person,
    coalesce(decided.status, 'new') as status, coalesce(decided.version, 0) as version,
    private.rsvp_state(coalesce(is_accepted, false), told_at, deadline, rsvp, (select private.today())) as answer_state,
    rsvp as answer, rsvp_at as answered_at, deadline as kept_until, application.edition
  from public.retreat_applications as application
    left join private.statuses as decided on decided.application_id = application.id
    left join private.invitations as invitation on invitation.application_id = application.id and is_accepted;
