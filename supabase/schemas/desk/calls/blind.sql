-- How the caller reads (`blind`, `reads_only`), and whether there are other organisers (`is_shared`).
create function public.desk_blind() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('blind', organisers.blind, 'reads_only', reads_only, 'is_shared', private.is_shared())
    from private.organisers where account_id = me.id
  );
end
$$;
