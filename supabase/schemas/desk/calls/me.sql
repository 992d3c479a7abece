-- The calling organiser's email, and their name if they have one. `reader` is true for a reader, and missing for others.
create function public.desk_me() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object('email', me.email, 'name', name,
      'reader', nullif(me.is_reader, false)))
    from private.organisers where account_id = me.id
  );
end
$$;
