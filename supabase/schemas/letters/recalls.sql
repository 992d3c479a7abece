-- Deliveries that are recalled, and failed ones that are tried again.

-- Cancels deliveries that wait or failed, and recalls those that are being sent. A server may claim a delivery or record its
-- result at any moment, so one statement reads and updates the locked row.
create function private.recall(wanted uuid[], author text default null) returns void
  language sql set search_path = ''
as $$
  select private.lock_deliveries(wanted);
  update private.deliveries set
      state = case state when 'sending' then state else 'cancelled' end, due_at = case state when 'sending' then due_at end,
      recalled_at = coalesce(recalled_at, now()), recalled_by = recall.author
    where id = any (wanted) and state in ('waiting', 'sending', 'failed')
$$;

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
