create function public.desk_note(act uuid, application uuid, note text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if coalesce(btrim(note, E' \t\r\n'), '') = '' or char_length(note) > 10000 then
    raise exception 'A note has between 1 and 10,000 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_note', application::text, note) then
    perform private.write_down(application, act, me.email, 'note', jsonb_build_object('note', note));
  end if;
  return private.application_details(application, me.blind) -> 'history';
end
$$;
