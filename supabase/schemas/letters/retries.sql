-- Failed deliveries that are tried again.

-- Makes these failed deliveries due again, as if they had never been tried. `may_have_arrived` stays: copies that may have
-- arrived still count. Skips a decision or an RSVP if a later one of the same applicant is pending. Returns how many are due
-- again.
create function private.retry_failed(wanted uuid[]) returns integer
  language sql set search_path = ''
as $$
  select private.lock_deliveries(wanted);
  with retried as (
    update private.deliveries as delivery set state = 'waiting', due_at = now(), attempts = 0, tried_at = null,
        reply_status = null, reply = '', is_refused = false, closings = 0, by = 'server'
      where id = any (wanted) and state = 'failed' and not (kind in ('decision', 'rsvp') and exists (
        select from private.deliveries as later
        where later.application_id = delivery.application_id and later.kind = delivery.kind
          and private.is_before(delivery, later) and later.state in ('waiting', 'sending')
      )) returning true
  )
  select count(*)::integer from retried
$$;

-- Makes all failed deliveries of a kind due again. Returns how many.
create function private.retry_deliveries(kind text) returns integer
  language sql set search_path = ''
as $$
  select private.retry_failed(array(
    select id from private.deliveries where deliveries.kind = retry_deliveries.kind and state = 'failed'
  ))
$$;

-- Whether a delivery failed and can be tried again: no receipt older than a day, no letter whose deadline has passed, and none to
-- an applicant who withdrew.
create function private.can_retry(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return delivery.state = 'failed' and delivery.kind in ('letter', 'decision', 'receipt')
    and (delivery.kind <> 'receipt' or delivery.queued_at > now() - interval '1 day') and not private.is_overdue(delivery)
    and not private.is_withdrawn(delivery.application_id);
end
$$;

-- Sends failed deliveries again if they can be tried again. The result counts those of the given deliveries that are then pending
-- or done.
create function private.retry_letters(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.retry_failed(array(
    select id from private.deliveries as delivery where id = any (wanted) and private.can_retry(delivery)
  ));
  return (select count(*) from private.deliveries where id = any (wanted) and state in ('waiting', 'sending', 'done'));
end
$$;
