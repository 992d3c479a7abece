-- Returns an application as the page of its receipt's link shows it. "state" is "open", "withdrawn", "decided", or "invalid", which
-- comes alone. The other keys are "first_name", null unless it is plain, and "applied_on", the day. Nothing else is returned: the
-- receipt went to an address that nobody verified.
create function public.withdrawal_by_token(token text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_receipt(token);
begin
  if application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  return (
    select jsonb_build_object(
      'state', case when private.is_decision(status) then 'decided' when withdrawn_at is not null then 'withdrawn' else 'open' end,
      'first_name', private.plain_name(first_name),
      'applied_on', (stored.created_at at time zone coalesce(zone, 'UTC'))::date)
    from private.places
      cross join public.retreat_applications as stored left join private.statuses on application_id = stored.id
    where stored.id = application
  );
end
$$;
