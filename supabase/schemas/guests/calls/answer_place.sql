-- Stores `answer`, the RSVP that was given through the link: `coming`, or `not coming`. Repeating the act stores nothing more,
-- and neither does the RSVP that is stored. After the deadline nothing is stored. Returns the invitation afterwards, as
-- `place_by_token` does.
create function public.answer_place(token text, answer text, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if act is null or answer is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming" or "not coming", and has an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- Checked again under the lock, since a decision may have changed it.
  if private.application_of_token(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif public.place_by_token(token) @> '{"state": "open"}'
    -- Anybody with the link could otherwise store acts without end.
    and not exists (select from private.invitations where application_id = application and rsvp = answer)
  then
    perform private.refuse_too_many_changes(application, act);
    if private.begin_act(act, 'answer_place', token, answer) then
      perform private.set_rsvp(application, act, 'applicant', answer);
    end if;
  end if;
  return public.place_by_token(token);
end
$$;
