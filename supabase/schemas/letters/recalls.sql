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

-- Makes these failed deliveries due again, with the full number of attempts. Returns how many. Skips a decision if a later one of
-- the same applicant is pending.
create function private.retry_failed(wanted uuid[]) returns integer
  language sql set search_path = ''
as $$
  select private.lock_deliveries(wanted);
  with retried as (
    update private.deliveries as delivery set state = 'waiting', attempts = 0, due_at = now(), reply = '', is_refused = false,
        closings = 0
      where id = any (wanted) and state = 'failed' and not (kind = 'decision' and exists (
        select from private.deliveries as later
        where later.application_id = delivery.application_id and later.kind = 'decision'
          and private.is_before(delivery, later) and later.state in ('waiting', 'sending')
      )) returning true
  )
  select count(*)::integer from retried
$$;

-- Makes failed deliveries of a kind due again, with the full number of attempts. Returns how many. Skips a delivery if a later
-- one of the same applicant is pending.
create function private.retry_deliveries(kind text) returns integer
  language plpgsql set search_path = ''
as $$
declare
  retried integer;
begin
  perform private.lock_deliveries(array(
    select id from private.deliveries as failed where failed.kind = retry_deliveries.kind and state = 'failed'
  ));
  update private.deliveries as delivery set state = 'waiting', attempts = 0, due_at = now()
    where delivery.kind = retry_deliveries.kind and state = 'failed' and not exists (
      select from private.deliveries as later
      where later.application_id = delivery.application_id and later.kind = delivery.kind
        and private.is_before(delivery, later)
        and later.state in ('waiting', 'sending')
    );
  get diagnostics retried = row_count;
  return retried;
end
$$;
