-- Mails on their way: which of them leaves next, and at what pace. Of all servers together one claims at a time.

-- How long all mails wait after so many failures in a row of the mail server.
create function private.mail_back_off(failures integer) returns interval
  language sql immutable
  return (array[5, 15, 60, 300, 600])[greatest(1, least(failures, 5))] * interval '1 second';

-- Whether a mail may leave now. A time further ahead than it is ever set is from before the clock was set back, and delays nothing.
create function private.may_leave(postman private.postman, pace interval) returns boolean
  language sql stable
  return not postman.stopped
    and (postman.paused_until <= now()
      or postman.paused_until > clock_timestamp() + private.mail_back_off(postman.failures))
    and (pace is null or postman.next_at <= now() or postman.next_at > clock_timestamp() + pace);

-- Whether the hour has room for a receipt or a notice: all servers together begin a hundred.
create function private.has_room(postman private.postman) returns boolean
  language sql stable
  return postman.in_hour < 100 or postman.hour_began_at not between now() - interval '1 hour' and clock_timestamp();

-- Whether another letter is under way to the same person: letters have to arrive in the order in which they were released.
create function private.is_busy(letter private.letters) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  recipient text := (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = letter.application_id
  );
begin
  return exists (
    select from private.letters as other join public.retreat_applications as theirs on theirs.id = other.application_id
    where other.state = 'sending' and other.way = 'mail' and other.due_at > now() and other.id <> letter.id
      and (other.application_id = letter.application_id
        or private.person(private.address_of(theirs.id, theirs.email)) = recipient)
  );
end
$$;

-- Whether a letter was released for the decision that stands.
create function private.is_current(letter private.letters) returns boolean
  language sql stable set search_path = ''
as $$
  select letter.status_version = coalesce(
    (select version from private.statuses where application_id = letter.application_id), 0)
$$;

-- The mail that is due and waits longest: its kind and its id; nothing where none is due. It is locked, and what somebody else has
-- locked is passed over. First tests, for which somebody waits, then letters, then mails that leave automatically: organisers'
-- before receipts, since there may be as many receipts as applications. Letters that were withdrawn on their way come too, to
-- end there. Each kind has an index of what is due: no other table is joined, since PostgreSQL would read everything that is
-- due to find the first.
create function private.due_mail(kinds text[], has_room boolean, out kind text, out id uuid)
  language plpgsql set search_path = ''
as $$
begin
  if 'test' = any (kinds) then
    select 'test', test.id into kind, id from private.deliveries as test
      where test.kind = 'test' and due_at <= now() and queued_at > now() - interval '1 day'
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'letter' = any (kinds) then
    select 'letter', letter.id into kind, id from private.letters as letter
      where way = 'mail' and occasion <> 'received' and due_at <= now()
        and (withdrawn_at is not null or private.is_current(letter) and not private.is_busy(letter))
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'notice' = any (kinds) and has_room then
    select 'notice', notice.id into kind, id from private.deliveries as notice
      where notice.kind = 'notice' and due_at <= now() and queued_at > now() - interval '1 day'
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'receipt' = any (kinds) then
    select 'receipt', letter.id into kind, id from private.letters as letter
      where way = 'mail' and occasion = 'received' and due_at <= now()
        and (withdrawn_at is not null
          or has_room and released_at > private.receipts_since() and not private.is_busy(letter))
      order by due_at limit 1 for update skip locked;
  end if;
end
$$;

-- Claims the mail that is due and waits longest, for one server and for as long as the lease; null where none is due or may leave.
-- The postman's row is locked before anything is claimed, and what is due is looked at again then: who had it before may have
-- claimed a letter to the same person. It is the last of all locks. `pace`: the time between two mails, null for none.
create function private.claim_mail(pace interval, kinds text[] default '{test,letter,notice,receipt}') returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  -- Longer than any handover takes.
  lease constant interval := interval '90 seconds';
  -- By which a mail may be late without delaying the mails after it.
  slack constant interval := interval '200 milliseconds';
  postman private.postman;
  due record;
  mail jsonb;
begin
  -- A server is about to change the schema, and waits for the mails that were claimed before.
  if not pg_try_advisory_xact_lock_shared(5610748) then return null; end if;
  select * into postman from private.postman;
  -- Where nothing may leave, or nothing is due, nothing is written.
  if not private.may_leave(postman, pace) then return null; end if;
  due := private.due_mail(kinds, private.has_room(postman));
  if due.id is null then return null; end if;
  select * into postman from private.postman for update;
  if not private.may_leave(postman, pace) then return null; end if;
  loop
    due := private.due_mail(kinds, private.has_room(postman));
    if due.id is null then return null; end if;
    mail := case when due.kind in ('test', 'notice') then private.claim_notice(due.id, lease)
      else private.claim_letter(due.id, lease) end;
    exit when mail is not null;
  end loop;
  update private.postman as row set
    next_at = case when pace is null then row.next_at else least(greatest(row.next_at, now() - slack), now()) + pace end,
    (hour_began_at, in_hour) = (
      select case when counts and is_new then now() else row.hour_began_at end,
        case when not counts then row.in_hour when is_new then 1 else row.in_hour + 1 end
      from (
        select due.kind in ('notice', 'receipt') and not coalesce((mail ->> 'is_withdrawn')::boolean, false) as counts,
          row.hour_began_at not between now() - interval '1 hour' and clock_timestamp() as is_new
      ) as hour
    )
    where not coalesce((mail ->> 'is_withdrawn')::boolean, false);
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

-- Claims a letter or a receipt that is due. One that was withdrawn on its way is claimed to end there, and has no text.
create function private.claim_letter(letter uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  was_sending boolean := (select state = 'sending' from private.letters where id = letter);
  claimed private.letters := private.move(array[letter], 'sending', due => now() + lease);
  is_withdrawn boolean := claimed.withdrawn_at is not null;
  sent record;
begin
  if not is_withdrawn then
    sent := private.to_send(claimed.application_id, claimed.subject, claimed.body);
  end if;
  return (
    select jsonb_build_object(
      'id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.uncertain, 'closings', claimed.closings,
      'applicationId', application.id,
      'age', extract(epoch from now() - claimed.released_at) * 1000,
      'to', private.address_of(application.id, application.email),
      'subject', case when not is_withdrawn then sent.subject end, 'body', case when not is_withdrawn then sent.body end,
      'link', case when not is_withdrawn then sent.link end, 'replyTo', reply_to,
      'is_withdrawn', is_withdrawn, 'is_overdue', private.is_overdue(claimed), 'was_sending', was_sending
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;
