-- Letters to applicants: their texts. deliveries.sql sends them.

-- Whether a time is in the last minute: a heartbeat or a request counts for this long.
create function private.is_recent(moment timestamptz) returns boolean
  language sql volatile parallel safe
  return private.happened_within(moment, '1 minute');

-- Whether a server runs that emails letters.
create function private.is_postman_there() returns boolean
  language sql stable set search_path = ''
as $$
  select private.is_recent(seen_at) from private.postman
$$;

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

-- The order of locks (docs/decisions/0074): the caller's act; templates by name; editions, then their announcements; applications
-- and their statuses by id; questions by id, then answers; letters by id; deliveries, the latest first; the postman's row;
-- invitations; the results of other acts last. Locking an application serialises the changes of its letters. A server that claims
-- a delivery begins with the delivery, and waits for nothing that comes before it.
create function private.lock_for_letters(applications uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from public.retreat_applications where id = any (applications) order by id for no key update;
  perform from private.statuses where application_id = any (applications) order by application_id for share;
end
$$;

-- Locks letters, their applications, and their templates, which cannot be removed meanwhile. Takes ids of letters and of
-- deliveries. For a receipt, which has no letter, it locks only the application.
create function private.lock_letters(ids uuid[]) returns void
  language plpgsql set search_path = ''
as $$
declare
  wanted constant uuid[] := ids || array(
    select letter_id from private.deliveries where id = any (ids) and letter_id is not null
  );
begin
  perform from private.templates
    where name in (select template from private.letters where id = any (wanted))
    order by name for key share;
  perform private.lock_for_letters(array(
    select application_id from private.letters where id = any (wanted)
    union select application_id from private.deliveries where id = any (ids)
  ));
  -- A server that has claimed a delivery may add another one for the same letter, which must not wait for this lock.
  perform from private.letters where id = any (wanted) order by id for no key update;
end
$$;

-- Refuses more than 1,000 ids in one call.
create function private.check_number(ids uuid[]) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if cardinality(ids) > 1000 then
    raise exception 'At most 1,000 letters are acted on at once.' using errcode = '22023';
  end if;
end
$$;
