-- Erases the private answers that are due now: on a hosted project no server erases them.
create function public.desk_erase_answers() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('erased', private.erase_due_answers(me.email));
end
$$;
