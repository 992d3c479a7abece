-- Sets the deadline of an accepted person to the day `until`.
create function public.desk_keep_until(act uuid, application uuid, until date) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or until is null or until < private.today() or until > '9999-12-31' then
    raise exception 'A deadline is today or a later day.' using errcode = '22023';
  end if;
  perform private.lock_accepted(application);
  -- A retry must not overwrite a deadline that was set after the first call.
  if private.begin_act(act, 'desk_keep_until', application::text, until::text) then
    perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
    update private.invitations set deadline = until, is_deadline_set = true where application_id = application;
  end if;
  return private.application_details(application, me.blind);
end
$$;
