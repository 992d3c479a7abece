-- Addresses of recipients.

-- The address of letters to an applicant: the one that they gave, or the organisers' replacement. Blanks around it are no part of
-- an address, and a mail server would refuse them.
create function private.address_of(application uuid, given text) returns text
  language sql stable set search_path = ''
  begin atomic
    select private.trimmed(coalesce((select address from private.addresses where application_id = application), given));
  end;

-- The address to which an email to an applicant goes, or went: one that was sent has the address that was valid then. An automation
-- writes to the address that the applicant gave.
create function private.recipient(delivery private.deliveries) returns text
  language sql stable set search_path = ''
as $$
  select case
    when delivery.kind = 'decision' then private.trimmed(application.email)
    when delivery.done_at is null then private.address_of(application.id, application.email)
    else private.trimmed(coalesce((
      select detail ->> 'address' from private.history as event
      where event.application_id = application.id and event.kind = 'address' and at <= delivery.done_at order by event.id desc limit 1
    ), application.email)) end
  from public.retreat_applications as application where application.id = delivery.application_id
$$;

-- Refuses what is not a single address.
create function private.check_address(address text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(char_length(address), 0) > 254
    or coalesce(address, '') !~ '^[^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+$'
  then
    raise exception 'This is not a single email address.' using errcode = '22023';
  end if;
end
$$;
