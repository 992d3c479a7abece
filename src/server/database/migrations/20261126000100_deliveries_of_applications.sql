-- For a server on a hosted project whose own migrations created the deliveries already. The server's older migrations, which
-- created the trigger of the outbox, are not applied there.
do $$
begin
  if exists (select from pg_trigger where tgrelid = 'public.retreat_applications'::regclass and tgname = 'enqueue_delivery') then
    return;
  end if;
  -- If nothing was ever delivered from here, the page has called the webhook for the waiting applications. Another call would
  -- send each of them twice, so they count as failed.
  update private.deliveries set state = 'failed', due_at = null
    where due_at is not null and kind = 'application'
      and not exists (select from private.deliveries where attempts > 0 or state = 'done');
  create function private.enqueue_deliveries() returns trigger
    language plpgsql security definer set search_path = ''
  as $function$
begin
  insert into private.deliveries (id, kind) select id, 'application' from arrived;
  return null;
end
$function$;
  revoke all on function private.enqueue_deliveries() from public, anon, authenticated;
  create trigger enqueue_delivery after insert on public.retreat_applications
    referencing new table as arrived for each statement execute function private.enqueue_deliveries();
end
$$;
