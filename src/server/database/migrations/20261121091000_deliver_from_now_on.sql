-- From now on this database has a server that empties the outbox. Where it is a hosted project's and nothing was
-- ever delivered from here, the page has called the webhook for what waits, and calling it again would send each
-- of those applications twice: they count as given up. Everywhere else what waits is owed, and stays as it is.
update private.webhook_outbox set next_attempt_at = null
where current_setting('unplugged.auth') = 'supabase'
  and next_attempt_at is not null
  and not exists (select from private.webhook_outbox where attempts > 0 or delivered_at is not null);

create trigger enqueue_delivery after insert on public.retreat_applications
  for each row execute function private.enqueue_webhook();
