-- A server before a project whose own migrations made deliveries already: the server's older ones, which are not applied there
-- any more, made the trigger of the outbox.
do $$
begin
  if exists (select from pg_trigger where tgrelid = 'public.retreat_applications'::regclass and tgname = 'enqueue_delivery') then
    return;
  end if;
  -- Where nothing was ever delivered from here, the page has called the webhook for what waits, and calling it again would send
  -- each of those applications twice: they count as failed.
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
