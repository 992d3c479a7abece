-- The calling organiser's email, and their name (null: none).
create function public.desk_me() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('email', me.email, 'name', name) from private.organisers where account_id = me.id
  );
end
$$;
