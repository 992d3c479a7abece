create function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.letters_overview(me.blind);
end
$$;
