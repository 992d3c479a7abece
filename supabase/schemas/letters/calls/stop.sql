-- Stops all letters, or resumes them. `leaving` counts the applicants whose letters are sent after a resume.
create function public.desk_stop(stopped boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_stop.stopped is null then
    raise exception 'Letters are stopped or not.' using errcode = '22023';
  end if;
  perform private.stop_letters(desk_stop.stopped, me.email);
  return jsonb_build_object('stopped', desk_stop.stopped, 'leaving', (
    select count(distinct application_id) from private.deliveries
    where not desk_stop.stopped and kind in ('letter', 'decision') and state = 'waiting' and due_at > now() and attempts = 0
  ));
end
$$;
