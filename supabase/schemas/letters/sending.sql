-- Sending and retrying letters, for the organisers' calls. The server's part is in src/server/letters/.

-- Queues a released letter, which can be stopped for a minute. `text` has its subject and body.
create function private.queue_letter(letter private.letters, kind text, text jsonb, act uuid, author text) returns uuid
  language sql set search_path = ''
as $$
  insert into private.deliveries (kind, application_id, letter_id, subject, body, act, author, due_at)
    select queue_letter.kind, letter.application_id, letter.id, text ->> 'subject', text ->> 'body', queue_letter.act,
      queue_letter.author, now() + hold
    from private.letter_settings
    returning id
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
