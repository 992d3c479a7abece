-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.

-- Queues a delivery for each new application, except of a person whom an organiser added. Runs once per statement, however many
-- applications the statement stores.
create or replace function private.enqueue_deliveries() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.deliveries (id, kind) select id, 'application' from arrived where added_by is null;
  return null;
end
$$;
