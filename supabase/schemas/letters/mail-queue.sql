-- Pending emails: which is sent next, and at what pace. Only one server claims at a time.

-- The back-off of all emails after the mail server has failed this many times in a row.
create function private.mail_back_off(failures integer) returns interval
  language sql immutable
  return (array[5, 15, 60, 300, 600])[greatest(1, least(failures, 5))] * interval '1 second';

-- Whether an email may be sent now.
-- Its body is a text: PostgreSQL refuses a new column of a table whose row type a parsed body uses.
create function private.may_leave(postman private.postman, pace interval) returns boolean
  language sql stable
as $$
  select not postman.stopped
    and not private.is_ahead(postman.paused_until, private.mail_back_off(postman.failures))
    and (pace is null or not private.is_ahead(postman.next_at, pace))
$$;

-- Whether this hour's limit allows another receipt or notice: a hundred, over all servers.
-- Its body is a text: PostgreSQL refuses a new column of a table whose row type a parsed body uses.
create function private.is_below_hourly_limit(postman private.postman) returns boolean
  language sql stable
as $$
  select postman.in_hour < 100 or not private.happened_within(postman.hour_began_at, '1 hour')
$$;

-- Clears the problem that delays all emails, and the suspects: the mail server has accepted an email. One whose try began before
-- the last refusal proves nothing.
create function private.accept_mail(began_at timestamptz) returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.postman
    set failures = 0, problem = '', failing_since = null, paused_until = least(paused_until, now()), suspects = '{}'
    where (failures > 0 or problem <> '' or failing_since is not null or suspects <> '{}')
      and (refused_at <= began_at or refused_at > clock_timestamp());
end
$$;

-- Clears the problem: the mail server has just accepted an email that is no delivery.
create function private.clear_mail_problem() returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.accept_mail(clock_timestamp());
end
$$;

-- Delays all emails by a time that grows with each failure in a row. A concurrent failure changes nothing. Returns whether this
-- call delayed them.
create function private.back_off_mails(problem text) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  update private.postman as row
    set failures = failures + 1, problem = back_off_mails.problem, failing_since = coalesce(failing_since, now()),
      paused_until = now() + private.mail_back_off(failures + 1), refused_at = clock_timestamp()
    where not private.is_ahead(paused_until, private.mail_back_off(failures));
  return found;
end
$$;

-- The emails that are suspected: what was refused more than an hour ago says nothing about the mail server of now.
create function private.suspects() returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select case when private.happened_within(refused_at, '1 hour') then suspects else '{}' end
    from private.postman
  );
end
$$;

-- Whether one email is sent at a time, and the next has to wait for its result: the mail server refused the last one for a reason
-- that may be about all emails. Tries that began before that refusal prove nothing, so nothing waits for them.
create function private.awaits_probe() returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from private.postman
    where (failures > 0 and paused_until <= now() or private.suspects() <> '{}') and exists (
      select from private.deliveries
      where kind in ('test', 'letter', 'notice', 'receipt') and state = 'sending' and due_at > now()
        and tried_at >= refused_at
    )
  );
end
$$;

-- Identifies the recipient of an email.
create function private.recipient_of(delivery private.deliveries) returns text
  language sql stable set search_path = ''
as $$
  select coalesce(delivery.organiser_id::text, (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = delivery.application_id
  ))
$$;

-- Records a refusal that is, or may be, about all emails. It is first recorded as the email's own, and the email becomes a
-- suspect. If the next email, to another recipient, is refused too, or if `is_ours`, all emails are delayed, and none of these
-- tries counts. If the next email is accepted, the record stays. It also stays if `is_cause` and no pause is under way: the email
-- itself began pauses too often. Returns the new state as `record_delivery` does, and `paused` or `waits` if the try does not
-- count: `paused` if this refusal delayed all emails.
create function private.record_refusal(
  delivery uuid, attempt integer, state text, pause interval, reply text, is_uncertain boolean, refused boolean,
  is_ours boolean, is_cause boolean, problem text
) returns text
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  postman private.postman;
  former uuid[];
  recorded text;
  is_pausing boolean;
begin
  select * into claimed from private.deliveries where id = delivery;
  recorded := private.record_delivery(delivery, attempt, record_refusal.state, pause,
    reply => record_refusal.reply, is_uncertain => record_refusal.is_uncertain, refused => record_refusal.refused);
  if recorded is null or recorded = 'cancelled' then return recorded; end if;
  -- After the delivery's row, as in `record_delivery`.
  select * into postman from private.postman for update;
  former := private.suspects();
  if postman.failures = 0 and is_cause then return recorded; end if;
  if is_ours or postman.failures > 0 or (claimed.tried_at >= postman.refused_at and exists (
    select from private.deliveries as suspect
    where id = any (former) and private.recipient_of(suspect) <> private.recipient_of(claimed)
  )) then
    is_pausing := private.back_off_mails(problem);
    -- Skips a suspect that somebody is acting on. An email that may have arrived too often stays given up. A refusal of all emails
    -- says nothing about an address.
    with reset as (
    update private.deliveries as row set
        state = 'waiting', attempts = greatest(attempts - 1, 0), due_at = coalesce(due_at, now()), is_refused = false,
        tried_at = case when attempts > 1 then tried_at end, reply = case id when claimed.id then claimed.reply else '' end,
        closings = closings + (postman.failures = 0)::integer,
        subject = case id when claimed.id then claimed.subject else row.subject end,
        body = case id when claimed.id then claimed.body else row.body end
      where id in (
        select id from private.deliveries as own
        where (id = claimed.id or postman.failures = 0 and id = any (former))
          and (own.state = 'waiting' or own.state = 'failed' and is_refused or id = claimed.id and not record_refusal.is_uncertain)
          -- The text of a test is gone.
          and (kind <> 'test' or own.state = 'waiting' or id = claimed.id)
        for update skip locked
      ) returning row.id
    )
    delete from private.failures using private.deliveries as own
      where own.id = delivery_id and own.id in (select id from reset) and address = private.recipient(own);
    recorded := case when is_pausing then 'paused' else 'waits' end;
  end if;
  -- A pause has set the time. A suspect whose try began before the first refusal does not, since the probe may be under way.
  update private.postman set suspects = array_append(array_remove(former, delivery), delivery),
    refused_at = case when former = '{}' and is_pausing is null then clock_timestamp() else refused_at end;
  return recorded;
end
$$;

-- Whether another email is being sent to the same applicant, or an earlier letter has no result yet. Letters have to arrive in
-- the order of their release.
create function private.is_busy(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  recipient text := (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = delivery.application_id
  );
begin
  return delivery.kind = 'letter' and exists (
    select from private.deliveries as earlier
    where earlier.application_id = delivery.application_id and earlier.kind = 'letter'
      and earlier.state in ('waiting', 'sending')
      and (earlier.queued_at, earlier.id) < (delivery.queued_at, delivery.id)
  ) or exists (
    select from private.deliveries as other join public.retreat_applications as theirs on theirs.id = other.application_id
    where other.kind in ('letter', 'receipt') and other.state = 'sending' and other.due_at > now() and other.id <> delivery.id
      and (other.application_id = delivery.application_id
        or private.person(private.address_of(theirs.id, theirs.email)) = recipient)
  );
end
$$;

-- Finds and locks the next email to send. Tests come first, since an organiser waits for them. Letters and notices follow.
-- Receipts come last: there may be as many as applications. Locked rows are skipped. The query joins no other table: for a
-- join, PostgreSQL would read all due emails to find the first. If the mail server refused emails for a reason that may be about
-- all, the next is to somebody else if possible, at least to somebody else than the last.
create function private.due_mail(kinds text[], is_below_limit boolean, out kind text, out id uuid)
  language plpgsql set search_path = ''
as $$
declare
  suspects constant uuid[] := private.suspects();
  skipped uuid[];
  moments record;
begin
  -- Skips all suspects, then the last, then none.
  for excess in reverse cardinality(suspects)..0 loop
    continue when excess not in (cardinality(suspects), 1, 0);
    skipped := suspects[cardinality(suspects) - excess + 1:];
    skipped := skipped || array(
      select application_id from private.deliveries as suspect
      where suspect.id = any (skipped) and suspect.kind in ('letter', 'receipt')
    );
    foreach kind in array '{test,letter,notice,receipt}'::text[] loop
      continue when not kind = any (kinds) or kind in ('notice', 'receipt') and not is_below_limit;
      for moments in select * from private.due_moments() loop
        select delivery.id into due_mail.id from private.deliveries as delivery
          where delivery.kind = due_mail.kind and due_at >= moments.since and due_at <= moments.until and recalled_at is null
            -- Emails other than letters are not sent after a day.
            and (delivery.kind = 'letter' or queued_at > now() - interval '1 day')
            and delivery.id <> all (skipped)
            and (delivery.kind not in ('letter', 'receipt')
              or delivery.application_id <> all (skipped) and not private.is_busy(delivery))
          order by due_at limit 1 for update skip locked;
        if found then return; end if;
      end loop;
    end loop;
  end loop;
end
$$;

-- Claims the next email (`due_mail`) for one server and the duration of the lease; null if none is due or may be sent. It locks
-- the postman's row first and then checks again what is due: the previous holder of the lock may have claimed a letter to the
-- same person. In the order of locks, only invitations come after this row. `pace`: the time between two emails, null for none.
create function private.claim_mail(pace interval, kinds text[] default '{test,letter,notice,receipt}') returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  -- Longer than any handover takes.
  lease constant interval := interval '90 seconds';
  -- How late an email may be without delaying the following ones.
  slack constant interval := interval '200 milliseconds';
  postman private.postman;
  due record;
  mail jsonb;
begin
  -- A server that is about to change the schema holds this lock, and waits for the claimed emails.
  if not pg_try_advisory_xact_lock_shared(5610748) then return null; end if;
  select * into postman from private.postman;
  -- Writes nothing if no email is due, or none may be sent.
  if not private.may_leave(postman, pace) or private.awaits_probe() then return null; end if;
  due := private.due_mail(kinds, private.is_below_hourly_limit(postman));
  if due.id is null then return null; end if;
  select * into postman from private.postman for update;
  if not private.may_leave(postman, pace) or private.awaits_probe() then return null; end if;
  loop
    due := private.due_mail(kinds, private.is_below_hourly_limit(postman));
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
        select due.kind in ('notice', 'receipt') as counts,
          not private.happened_within(row.hour_began_at, '1 hour') as is_new
      ) as hour
    );
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

-- Claims a letter or a receipt that is due, and fills in its link and the deadline. For a confirmation, the result also has
-- the days and the venue of the retreat.
create function private.claim_letter(delivery uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  was_sending boolean := (select state = 'sending' from private.deliveries where id = delivery);
  claimed private.deliveries := private.claim_one(delivery, lease);
  is_confirmation boolean := private.is_confirmation(claimed.letter_id);
  sent record;
begin
  if claimed.kind = 'receipt' then
    sent := private.fill_receipt(claimed.application_id, claimed.subject, claimed.body);
  else
    sent := private.fill_at_handover(claimed.application_id, claimed.subject, claimed.body);
  end if;
  return (
    select jsonb_build_object(
      'id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.may_have_arrived, 'closings', claimed.closings,
      'age', extract(epoch from now() - claimed.queued_at) * 1000,
      'to', private.address_of(application.id, application.email), 'subject', sent.subject, 'body', sent.body,
      'link', sent.link, 'replyTo', reply_to,
      'is_overdue', private.is_overdue(claimed), 'was_sending', was_sending,
      'is_confirmation', is_confirmation, 'is_added', application.added_by is not null,
      -- Applicants get no organiser's email.
      'added_by', nullif(private.author_shown(application.added_by), application.added_by),
      'retreat', case when is_confirmation then private.retreat(application.edition) end
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;

-- Stops or resumes all letters. After a resume, each letter waits a minute in which it can be stopped, as after its release.
create function private.stop_letters(stopped boolean, author text) returns void
  language plpgsql set search_path = ''
as $$
declare
  waiting uuid[];
begin
  if not stop_letters.stopped and (select postman.stopped from private.postman) then
    -- Locked before the postman's row, as in the order of locks.
    waiting := array(
      select id from private.deliveries
      where kind in ('letter', 'decision') and state = 'waiting' and attempts = 0 and not is_beside
    );
    perform private.lock_letters(waiting);
    perform private.lock_deliveries(waiting);
    update private.deliveries set due_at = now() + (select hold from private.letter_settings)
      where id = any (waiting) and state = 'waiting' and attempts = 0;
  end if;
  update private.postman set stopped = stop_letters.stopped where postman.stopped <> stop_letters.stopped;
  if found then perform private.write_down_letters(author, jsonb_build_object('stopped', stop_letters.stopped)); end if;
end
$$;

-- Ends recalled deliveries whose server was lost, and cancels receipts that were not sent within a day.
create function private.end_lost_deliveries() returns void
  language plpgsql set search_path = ''
as $$
declare
  lost uuid[] := array(
    select id from private.deliveries
    where kind in ('letter', 'decision', 'receipt') and state = 'sending' and recalled_at is not null
      and exists (select from private.due_moments() as due where due_at >= due.since and due_at <= due.until)
  );
begin
  -- All at once, in the order of locks.
  perform private.lock_letters(lost);
  perform private.record_delivery(id, attempts, 'waiting', is_uncertain => true) from private.deliveries where id = any (lost);
  perform private.recall(array(
    select id from private.deliveries
    where kind = 'receipt' and due_at <= now() and queued_at <= now() - interval '1 day'
    for update skip locked
  ));
end
$$;
