-- Lets an organiser do everything, or makes them a reader. Returns all organisers.
create function public.desk_set_reader(account uuid, is_reader boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.set_reader(account, is_reader, me.email);
  -- Not the call: the caller may have become a reader.
  return private.organisers_shown();
end
$$;
