-- Sets the calling organiser's name; a blank one removes it.
create function public.desk_set_name(name text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.set_organiser_name(me.id, name);
  return public.desk_me();
end
$$;
