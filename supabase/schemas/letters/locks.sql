-- Locks of letters, and their order.

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
