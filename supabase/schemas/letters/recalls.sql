-- Deliveries that are recalled.

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
