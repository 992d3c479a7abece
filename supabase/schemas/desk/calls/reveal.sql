-- One application with everything that blind reading hides, for an organiser who reads blind, except answers to private
-- questions. The history records who revealed it.
create function public.desk_reveal(act uuid, application uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind and private.begin_act(act, 'desk_reveal', application::text) then
    perform private.write_down(application, act, me.email, 'revealed', '{}');
  end if;
  return private.application_details(application, false, hides_private => me.blind);
end
$$;
