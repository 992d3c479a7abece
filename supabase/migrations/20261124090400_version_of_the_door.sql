-- What windows that were open meanwhile have seen counted each change twice: it is behind that.
update private.door set version = 2 * version + 2 where version > 0;

-- How the door stands, by the clock. That it closes by itself counts as a change: one that was begun before would open it
-- again.
-- A moment that no calendar knows, as earlier versions kept it, is not shown: such a door closes never, or did long ago.
create or replace function private.door_state() returns jsonb
  language sql stable set search_path = ''
as $$
  select to_jsonb(door) - 'is_only' || jsonb_build_object(
    'closes_at', case when closes_at between '0001-01-01 00:00+00' and '9999-12-31 23:59:59+00' then closes_at end,
    'opened_at', nullif(opened_at, '-infinity'), 'is_open', is_open, 'version', version + (not is_open and not closed)::integer
  )
  from private.door, lateral (
    select not (closed or coalesce(clock_timestamp() >= closes_at, false) or coalesce(received >= closes_after, false)) as is_open
  ) as state
$$;

-- Opens or closes; from the program's command too, which has seen no version and asks for none.
create or replace function private.set_door(
  author text, seen integer, closed boolean, sentence text, closes_at timestamptz, closes_after integer
) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  stood private.door;
  state jsonb;
  opens boolean;
begin
  if char_length(sentence) > 300 then
    raise exception 'The sentence has at most 300 characters.' using errcode = '22023';
  elsif closes_after <= 0 then
    raise exception 'The number of applications is at least 1.' using errcode = '22023';
  end if;
  -- What is being inserted now is counted before, or is counted by the door. Locked first, as those who insert do.
  if closes_after is not null then lock table public.retreat_applications in share row exclusive mode; end if;
  select * into stood from private.door for update;
  state := private.door_state();
  if (state ->> 'version')::integer <> seen then
    -- Sent again, because its answer was lost.
    if stood.version = seen + 1 and stood.closed = set_door.closed and stood.sentence = coalesce(set_door.sentence, '')
      and stood.closes_at is not distinct from set_door.closes_at
      and stood.closes_after is not distinct from set_door.closes_after
    then
      return state;
    end if;
    raise exception 'The door has changed meanwhile.' using errcode = 'PT409';
  elsif set_door.closes_at is distinct from stood.closes_at then
    if set_door.closes_at <= now() then
      raise exception 'The moment at which the door closes is past.' using errcode = '22023';
    elsif set_door.closes_at > '9999-12-31 23:59:59+00' then
      raise exception 'The door closes before the year 10000, or at no moment.' using errcode = '22023';
    end if;
  end if;
  -- Another sentence on a door that a number or a moment closed does not open it.
  opens := not set_door.closed and not (state ->> 'is_open')::boolean and (
    stood.closed or set_door.closes_at is distinct from stood.closes_at
    or set_door.closes_after is distinct from stood.closes_after
  );
  update private.door set
    version = (state ->> 'version')::integer + 1, closed = set_door.closed, sentence = coalesce(set_door.sentence, ''),
    closes_at = set_door.closes_at, closes_after = set_door.closes_after,
    opened_at = case when opens then now() else stood.opened_at end;
  if closes_after is not null then
    update private.door set received = (
      select count(*) from (
        select from public.retreat_applications where created_at >= opened_at limit set_door.closes_after
      ) as since_opening
    );
  end if;
  insert into private.history (author, kind, detail)
    values (set_door.author, 'door', private.door_state() - '{version,received}'::text[]);
  return private.door_state();
end
$$;
