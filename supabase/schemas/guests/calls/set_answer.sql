-- Sets an RSVP that was not given on the page: `coming`, `not coming`, or null for none. `answer` is this RSVP.
create function public.desk_set_answer(act uuid, application uuid, answer text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming", "not coming" or none, and has an id.' using errcode = '22023';
  end if;
  perform private.lock_accepted(application);
  if private.begin_act(act, 'desk_set_answer', application::text, answer) then
    perform private.set_rsvp(application, act, me.email, answer);
  end if;
  return private.application_details(application, me.blind);
end
$$;
