-- Releasing letters: a draft becomes a delivery.

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
