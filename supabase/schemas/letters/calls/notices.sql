-- Which emails about applications the caller gets, and whether a server sends them.
create function public.desk_notices() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('notices', notices, 'day_due_at', case when notices <> 'off' then day_due_at end,
      'email', me.email, 'is_postman_there', private.is_postman_there())
    from private.organisers where account_id = me.id
  );
end
$$;
