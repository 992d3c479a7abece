-- Drafts reminders for people of an edition, by default the newest: those without an RSVP after half of their days, the earliest
-- deadline first, and guests with open questions. It drafts at most 1,000 of each at once. Nobody is reminded twice in three
-- days. The result is {drafted, questions, late, waiting, reminded, more}. `questions` counts the drafted ones about questions,
-- and `late` those whose deadline has to be moved first. `waiting` counts people with a reminder that is not sent yet, and
-- `reminded` those who got one in the last three days. Repeating the act drafts none and returns the first result. A desk of
-- version 1.0 sends no `act`.
create function public.desk_remind(act uuid default null, edition integer default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  today constant date := private.today();
  shown integer := private.edition_in(jsonb_build_object('edition', edition));
  found record;
  guests record;
  drafted uuid[];
  drafted_to_guests uuid[];
begin
  perform private.caller();
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_remind', variadic array_remove(array[edition::text], null)) then
    return (select result from private.acts where acts.act = desk_remind.act);
  end if;
  perform from private.templates where name in ('reminder', 'questions') order by name for key share;
  found := private.to_remind('reminder', shown, today);
  guests := private.to_remind('questions', shown, today);
  perform private.lock_for_letters(found.wanted[:1000] || guests.wanted[:1000]);
  drafted := private.draft_reminders('reminder', found.wanted[:1000], today);
  drafted_to_guests := private.draft_reminders('questions', guests.wanted[:1000], today);
  return private.end_act(act, jsonb_build_object(
    'drafted', cardinality(drafted) + cardinality(drafted_to_guests), 'questions', cardinality(drafted_to_guests),
    'late', (
      select count(*) from private.invitations
      where application_id = any (drafted) and deadline < today
    ),
    'waiting', found.waiting + guests.waiting, 'reminded', found.reminded + guests.reminded,
    'more', cardinality(found.wanted) > 1000 or cardinality(guests.wanted) > 1000
  ));
end
$$;
