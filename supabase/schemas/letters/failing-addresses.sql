-- The addresses at which emails to applicants failed.

-- When a letter to an address last failed or came back; null if none did.
create function private.last_failure(address text) returns timestamptz
  language sql stable set search_path = ''
as $$
  select max(at) from private.failures where private.person(failures.address) = private.person(last_failure.address)
$$;
create index failures_address on private.failures (private.person(address));

-- Adds a failure at an address, or the time of another one.
create function private.add_failure(delivery uuid, address text) returns void
  language sql set search_path = ''
as $$
  insert into private.failures (delivery_id, address) values (add_failure.delivery, add_failure.address)
    on conflict (delivery_id, address) do update set at = excluded.at
$$;

-- Remembers the address at which an email has failed, and forgets it once this email is accepted there. A letter that is overdue or
-- may have arrived says nothing about its address.
create function private.note_failure(delivery private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
begin
  if delivery.state = 'failed' and delivery.may_have_arrived = 0 and not private.is_overdue(delivery) then
    perform private.add_failure(delivery.id, private.recipient(delivery));
  elsif delivery.state = 'done' then
    delete from private.failures where delivery_id = delivery.id and address = private.recipient(delivery);
  end if;
end
$$;
