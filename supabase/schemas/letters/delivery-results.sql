-- Results: what came of a try of a delivery.

-- Records the result of a claim: `done`, `failed`, or `waiting` for another try after a pause. `counts`: this try uses up one
-- of the allowed attempts. Without a reply, the former reply is unchanged. `is_uncertain`: it may have arrived. `is_closing`:
-- the mail server closed the connection. `refused`: the receiver refused it permanently. Returns the new state, which is
-- `cancelled` if it was recalled during the try. Returns null if this claim is no longer the current one.
create function private.record_delivery(
  delivery uuid, attempt integer, state text, pause interval default '0', counts boolean default true,
  reply_status integer default null, reply text default null, is_uncertain boolean default false, is_closing boolean default false,
  refused boolean default false
) returns text
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  is_recalled boolean;
  recorded private.deliveries;
  superseded uuid[];
begin
  loop
    select * into claimed from private.deliveries where id = delivery and attempts = attempt and deliveries.state = 'sending';
    if not found then return null; end if;
    is_recalled := claimed.recalled_at is not null;
    -- Locked before the delivery's row, as in the order of locks: `follow_told` adds a delivery that refers to the application.
    if is_recalled then
      perform private.lock_letters(array[delivery]);
    elsif claimed.letter_id is not null then
      perform from public.retreat_applications where id = claimed.application_id for key share;
    end if;
    begin
      perform from private.deliveries
        where id = delivery and attempts = attempt and deliveries.state = 'sending' and (recalled_at is not null) = is_recalled
        for update;
      exit when found;
      raise serialization_failure;
    exception when serialization_failure then
      -- The recall changed between the two statements. The row was locked nevertheless. It is unlocked here, since the application
      -- is locked before it.
    end;
  end loop;
  -- Locks the postman's row before invitations, as a claim does.
  if record_delivery.state = 'done' and claimed.kind in ('letter', 'receipt', 'notice', 'test') then
    perform private.accept_mail(claimed.tried_at);
  end if;
  update private.deliveries as row set
      state = case when is_recalled and record_delivery.state <> 'done' then 'cancelled' else record_delivery.state end,
      due_at = case when record_delivery.state = 'waiting' and not is_recalled then now() + pause end,
      done_at = case when record_delivery.state = 'done' then now() end,
      attempts = attempts - (not counts)::integer,
      -- Without a counted try, there is no time of a try.
      tried_at = case when counts or attempts > 1 then tried_at end,
      reply_status = case when record_delivery.reply is null then row.reply_status else record_delivery.reply_status end,
      reply = coalesce(record_delivery.reply, row.reply),
      is_refused = refused,
      may_have_arrived = may_have_arrived + is_uncertain::integer,
      closings = closings + is_closing::integer,
      subject = case when kind <> 'test' or record_delivery.state = 'waiting' then sent.subject end,
      body = case when kind <> 'test' or record_delivery.state = 'waiting' then sent.body end
    from private.as_sent(claimed, record_delivery.state = 'done') as sent
    where id = delivery returning row.* into recorded;
  if recorded.state = 'done' and recorded.kind in ('rsvp', 'decision') then
    -- Otherwise a retry would deliver an older RSVP or decision after a newer one.
    superseded := array(
      select id from private.deliveries as earlier
      where earlier.application_id = recorded.application_id and earlier.kind = recorded.kind
        and private.is_before(earlier, recorded) and earlier.state not in ('done', 'cancelled')
    );
    perform private.lock_deliveries(superseded);
    update private.deliveries set state = 'cancelled', due_at = null
      where id = any (superseded) and deliveries.state not in ('done', 'cancelled');
  end if;
  if recorded.kind in ('letter', 'receipt') then
    perform private.note_failure(recorded);
  end if;
  if is_recalled and recorded.letter_id is not null then
    perform private.settle_recalled(recorded);
  end if;
  return recorded.state;
end
$$;
