-- Returns an invitation as its page shows it. "state" is "open", "over" after the deadline, or "invalid", which comes alone. The
-- other keys are "first_name", "until" (the deadline), "answer" (the RSVP, or null) and "address" (where replies go). "retreat"
-- (`private.retreat`) is null for a person who is not coming: pages of 1.1.0 would show it, and offer the calendar. It is null
-- after the deadline, too, unless the person is coming. "questions" (`private.questions_of`) are null unless the person is
-- coming. No answer to a private question is returned, since a letter may be forwarded. The names are older than the words
-- invitation and RSVP, and published pages use them.
create function public.place_by_token(token text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  return (
    select jsonb_build_object(
      'state', case when until < private.today() then 'over' else 'open' end,
      'first_name', left(private.trimmed(first_name), 200), 'until', until, 'answer', rsvp,
      'address', private.unicode_email(coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender)),
      'retreat', case when rsvp = 'coming' or rsvp is null and until >= private.today() then private.retreat(edition) end,
      'questions', case when rsvp = 'coming' then (
        select jsonb_build_object(
          'until', coalesce(questions_until, starts_on), 'is_open', private.are_questions_open(edition),
          'private_days', private_days, 'list', private.questions_of(application, edition, false))
        from private.editions
        where id = edition and exists (select from private.questions where questions.edition = editions.id)
      ) end
    )
    from private.invitations as invitation
      join public.retreat_applications as application_row on application_row.id = application_id
      cross join private.places
      cross join lateral (select coalesce(deadline, private.today() + places.days) as until) as counted
    where application_id = application
  );
end
$$;
