-- This trigger exists only in databases on which our own server has started. The server delivers the queued applications.

-- Queues a delivery for each new application, except of a person whom an organiser added. Runs once per statement, however many
-- applications the statement stores.
create function private.enqueue_deliveries() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.deliveries (id, kind) select id, 'application' from arrived where added_by is null;
  return null;
end
$$;

revoke all on function private.enqueue_deliveries() from public, anon, authenticated;

create trigger enqueue_delivery after insert on public.retreat_applications
  referencing new table as arrived for each statement execute function private.enqueue_deliveries();
