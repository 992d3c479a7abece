-- Deliveries: what has to reach somebody, by webhook or email, and the state of sending it. An application and its delivery are
-- stored together or not at all. In a hosted project no server delivers: the page calls the webhook itself. Nothing is queued
-- there until one of our servers uses the project's database and creates the trigger
-- (src/server/database/schemas/enqueue_deliveries.sql).

-- Refuses an invalid delivery. A trigger instead of constraints: PostgreSQL would prepare constraints for each insert,
-- including an application's own delivery (docs/decisions/0058).
create function private.check_delivery() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if not (case new.kind
      when 'application' then new.application_id is null
      when 'rsvp' then new.application_id is not null and new.event_id is not null
      when 'notice' then new.organiser_id is not null and (new.application_id is null and new.event_id is null) = (new.until is not null)
      when 'test' then new.organiser_id is not null
      else new.kind in ('letter', 'decision', 'receipt') and new.application_id is not null and new.subject is not null
        and new.body is not null and case new.kind when 'receipt' then new.mailbox else new.letter_id::text end is not null
    end
    and new.state in ('waiting', 'sending', 'done', 'failed', 'cancelled') and new."by" in ('server', 'hand', 'elsewhere')
    and (new.state in ('waiting', 'sending')) = (new.due_at is not null) and (new.state = 'done') = (new.done_at is not null))
  then
    raise exception 'A delivery of kind "%" and state "%" lacks something, or has too much.', new.kind, new.state
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create trigger check_delivery before insert or update on private.deliveries
  for each row when (new.kind <> 'application' or new.state <> 'waiting') execute function private.check_delivery();

-- How a delivery's state changes:
--
-- | from             | to        | by                                                                        |
-- | ---------------- | --------- | ------------------------------------------------------------------------- |
-- | waiting, sending | sending   | a server claims it: it is due, or the lease of its last claim has expired |
-- | sending          | done      | the receiver accepted it                                                  |
-- | sending          | waiting   | it is tried again later                                                   |
-- | sending          | failed    | it was tried often enough, or the receiver refused it or is gone          |
-- | sending          | cancelled | it was not accepted, and was recalled meanwhile                           |
-- | failed           | waiting   | somebody tries again, or gives another address                            |
-- | failed           | done      | an organiser told the applicant another way                               |
-- | done             | failed    | an organiser reports that the letter came back                            |
-- | waiting, failed  | cancelled | it is recalled, or a later RSVP or decision of the same person was delivered |

-- Whether a delivery brings a letter to the applicant: as an email, or as a decision that replaces the email. `has_told`: whether
-- it arrived, or may have arrived.
create function private.is_main(delivery private.deliveries) returns boolean
  language sql immutable
as $$
  select delivery.kind in ('letter', 'decision') and not delivery.is_beside
$$;
create function private.has_told(delivery private.deliveries) returns boolean
  language sql immutable
as $$
  select delivery.kind in ('letter', 'decision') and not delivery.is_beside
    and (delivery.state = 'done' or delivery.may_have_arrived > 0)
$$;

-- Whether the first of two deliveries precedes the second. Both are RSVPs or both are decisions, of one applicant.
create function private.is_before(earlier private.deliveries, later private.deliveries) returns boolean
  language sql immutable
as $$
  select case when earlier.event_id is not null then earlier.event_id < later.event_id
    else (earlier.queued_at, earlier.id) < (later.queued_at, later.id) end
$$;

-- Locks deliveries in the order of locks: the latest first, as recording an RSVP or a decision locks it before the earlier ones.
create function private.lock_deliveries(wanted uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from private.deliveries
    where id = any (wanted) order by event_id desc nulls last, queued_at desc, id desc for update;
end
$$;

-- Claims one delivery, whose row the caller has locked, for the duration of the lease. An earlier try that has no result counts
-- in `may_have_arrived`.
create function private.claim_one(delivery uuid, lease interval) returns private.deliveries
  language sql set search_path = ''
as $$
  update private.deliveries set state = 'sending', attempts = attempts + 1, tried_at = now(), due_at = now() + lease,
      may_have_arrived = may_have_arrived + (state = 'sending')::integer
    where id = delivery returning *
$$;

-- The ranges of `due_at` that are due: the past, and times further ahead than any retry, which waits at most a day and some
-- jitter.
create function private.due_moments() returns table (since timestamptz, until timestamptz)
  language sql stable
as $$
  values ('-infinity'::timestamptz, now()), (now() + interval '27 hours', 'infinity'::timestamptz)
$$;

-- Erases the deliveries about an application, and that of the application itself, before the application, as in the lock order of
-- servers. A server that claims a delivery, or records its result, locks the delivery, then the invitation and earlier RSVPs. It
-- does not lock the application.
create function private.erase_deliveries() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.lock_deliveries(array(select id from private.deliveries where old.id in (id, application_id)));
  delete from private.deliveries where old.id in (id, application_id);
  return old;
end
$$;

create trigger erase_deliveries before delete on public.retreat_applications
  for each row execute function private.erase_deliveries();
