-- The calling organiser's email.
create function public.desk_me() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('email', me.email);
end
$$;
