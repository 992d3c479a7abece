-- The door: whether applications are taken.

-- Refuses an application while the door is closed, with the organisers' sentence, and counts it while a limit is set. It runs
-- after the insert, so that the index refuses a repeat first: a repeat is a success even when the door is closed. A person whom an
-- organiser adds is counted, and never refused.
create function private.refuse_when_closed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  door private.door;
begin
  -- Held until the application is stored: `hold_applying` waits for this lock before a limit is set.
  perform pg_advisory_xact_lock_shared(5610746);
  select * into door from private.door;
  -- Checked before the query, since PostgreSQL evaluates a condition without a query in a tenth of the time. Somebody whom an
  -- organiser adds to the new edition too is no repeat.
  if new.added_by is null and private.is_ahead(door.repeats_until, '1 hour') then
    perform from public.retreat_applications as former
      where private.answers_digest(former) = private.answers_digest(new) and edition = any (array(
        select id - 1 from private.editions where began_at > clock_timestamp() - interval '1 hour'
      )) and not private.is_withdrawn(former.id);
    if found then
      -- Clients know a repeat by this code and this name.
      raise exception 'duplicate key value violates unique constraint "retreat_applications_once"'
        using errcode = '23505', constraint = 'retreat_applications_once', table = 'retreat_applications', schema = 'public';
    end if;
  end if;
  if not door.closed and door.closes_after is not null then
    -- Concurrent applicants wait for each other only while a limit is set.
    select * into door from private.door for update;
    if not door.closed and door.received < door.closes_after then
      update private.door set received = received + 1;
      door.closes_after := null;
    end if;
  end if;
  if new.added_by is null and (door.closed or now() >= door.closes_at or door.closes_after is not null) then
    raise exception using errcode = 'PT403', message = coalesce(nullif(door.sentence, ''), 'Applications are closed.');
  end if;
  return null;
end
$$;

create trigger keep_door after insert on public.retreat_applications
  for each row execute function private.refuse_when_closed();

-- While an open door has a limit, an application that is put aside no longer counts. It counts again if it gets another status. A
-- door that has closed stays closed.
create function private.count_aside() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  -- A limit that is set meanwhile counts this application, so it waits for this transaction.
  perform pg_advisory_xact_lock_shared(5610746);
  update private.door set received = received + case when new.status = 'aside' then -1 else 1 end
    where not closed and received < closes_after and (closes_at is null or closes_at > now())
      and new.created_at >= opened_at and received + (new.status <> 'aside')::integer > 0;
  return null;
end
$$;

create trigger count_aside after update of status on private.statuses
  for each row when ((old.status = 'aside') <> (new.status = 'aside')) execute function private.count_aside();

-- The state of the door at this moment. An automatic closing counts as a change. Otherwise an organiser who still sees an
-- open door could reopen it by mistake. An infinite time, which earlier versions could store, is not shown: that door never
-- closes, or is closed.
create function private.door_state() returns jsonb
  language sql stable set search_path = ''
as $$
  select to_jsonb(door) - '{is_only,repeats_until}'::text[] || jsonb_build_object(
    'closes_at', case when closes_at between '0001-01-01 00:00+00' and '9999-12-31 23:59:59+00' then closes_at end,
    'opened_at', nullif(opened_at, '-infinity'), 'is_open', is_open, 'version', version + (not is_open and not closed)::integer
  )
  from private.door, lateral (
    select not (closed or coalesce(clock_timestamp() >= closes_at, false) or coalesce(received >= closes_after, false)) as is_open
  ) as state
$$;

-- Waits until nobody is applying, and blocks new applications until the transaction ends. It locks no table, since a vacuum holds
-- a conflicting lock for a long time. A waiting lock request blocks all later applicants, so each attempt waits only briefly.
create function private.hold_applying() returns void
  language plpgsql set search_path = '' set lock_timeout = '100ms'
as $$
begin
  for attempt in 1 .. 25 loop
    begin
      perform pg_advisory_xact_lock(5610746);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'Somebody is applying at this moment. Please try again.' using errcode = 'PT503';
end
$$;

-- Opens or closes the door. The command `door` calls this without a version (`seen`), so that no version is compared.
create function private.set_door(
  author text, seen integer, closed boolean, sentence text, closes_at timestamptz, closes_after integer
) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  former private.door;
  state jsonb;
  opens boolean;
begin
  if char_length(sentence) > 300 then
    raise exception 'The sentence has at most 300 characters.' using errcode = '22023';
  elsif closes_after <= 0 then
    raise exception 'The number of applications is at least 1.' using errcode = '22023';
  end if;
  -- Concurrent inserts are either counted below or count themselves. This lock precedes the row's, as in inserts.
  if closes_after is not null then perform private.hold_applying(); end if;
  select * into former from private.door for update;
  state := private.door_state();
  -- A door that closed automatically keeps its values, and so stays closed.
  if (former.closed, former.sentence, former.closes_at, former.closes_after)
    is not distinct from (set_door.closed, coalesce(set_door.sentence, ''), set_door.closes_at, set_door.closes_after)
  then
    return state;
  elsif (state ->> 'version')::integer <> seen then
    raise exception 'The door has changed meanwhile.' using errcode = 'PT409';
  elsif set_door.closes_at is distinct from former.closes_at then
    if set_door.closes_at <= now() then
      raise exception 'The closing time is in the past.' using errcode = '22023';
    elsif set_door.closes_at > '9999-12-31 23:59:59+00' then
      raise exception 'The closing time must be before the year 10000.' using errcode = '22023';
    end if;
  end if;
  -- A new sentence alone does not open a door that closed automatically.
  opens := not set_door.closed and not (state ->> 'is_open')::boolean and (
    former.closed or set_door.closes_at is distinct from former.closes_at
    or set_door.closes_after is distinct from former.closes_after
  );
  update private.door set
    version = (state ->> 'version')::integer + 1, closed = set_door.closed, sentence = coalesce(set_door.sentence, ''),
    closes_at = set_door.closes_at, closes_after = set_door.closes_after,
    opened_at = case when opens then now() else former.opened_at end;
  -- A door that its limit closed, and that stays closed, keeps its number: a lower one would open it.
  if closes_after is not null and (opens or set_door.closed or (state ->> 'is_open')::boolean) then
    update private.door set received = (
      select count(*) from (
        select from public.retreat_applications where created_at >= opened_at and not exists (
          select from private.statuses where application_id = id and status = 'aside'
        ) limit set_door.closes_after
      ) as since_opening
    );
  end if;
  insert into private.history (author, kind, detail)
    values (set_door.author, 'door', private.door_state() - '{version,received}'::text[]);
  return private.door_state();
end
$$;
