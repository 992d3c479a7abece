-- The retreat itself: its days and its venue, for the calendars of people who are coming.

-- The retreat of an edition: {uid, sequence, name, starts_on, ends_on, venue}; null until its days are set. `uid` names the
-- event in every calendar, and stays the same in a database that is restored from a backup.
create function private.retreat(edition integer) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'uid', md5(installation.id::text || ' ' || editions.id)::uuid, 'sequence', calendar_sequence, 'name', name,
    'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
  from private.editions cross join private.installation
  where editions.id = retreat.edition and starts_on is not null
$$;

-- All editions, the newest first: [{id, name, began_at, starts_on, ends_on}]. `began_at` is null for the first, which was always
-- there.
create function private.editions_shown() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'began_at', nullif(began_at, '-infinity'),
    'starts_on', starts_on, 'ends_on', ends_on) order by id desc)
  from private.editions
$$;

-- Refuses days on which there can be no retreat.
create function private.check_days(starts_on date, ends_on date) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if (starts_on is null) <> (ends_on is null) then
    raise exception 'A retreat has a first and a last day, or neither yet.' using errcode = '22023';
  elsif starts_on > ends_on then
    raise exception 'The last day is before the first.' using errcode = '22023';
  elsif starts_on < '2000-01-01' or ends_on >= '3000-01-01' then
    raise exception 'The days are between 2000 and 2999.' using errcode = '22023';
  end if;
end
$$;

-- Sets the days and the venue of an edition, by default the newest. Both days are null if they are unknown. Nobody gets an email
-- about a change: people who are coming see it on their page.
create function public.desk_set_retreat(
  version integer, starts_on date, ends_on date, venue text, edition integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  settings private.places;
begin
  venue := btrim(coalesce(venue, ''));
  perform private.check_days(starts_on, ends_on);
  if char_length(venue) > 200 or venue ~ '[[:cntrl:]]' then
    raise exception 'The venue is one line of at most 200 characters.' using errcode = '22023';
  end if;
  select * into former from private.editions
    where id = coalesce(desk_set_retreat.edition, (select max(id) from private.editions)) for update;
  if (former.starts_on, former.ends_on, former.venue) is not distinct from (starts_on, ends_on, venue) then
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
    return public.desk_places(edition => former.id);
  elsif former.calendar_sequence is distinct from desk_set_retreat.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.editions as kept set starts_on = desk_set_retreat.starts_on, ends_on = desk_set_retreat.ends_on,
    venue = desk_set_retreat.venue, calendar_sequence = former.calendar_sequence + 1
    where id = former.id;
  if former.ends_on is distinct from desk_set_retreat.ends_on then
    perform private.end_announcements(former.id, subject) from unnest(array['applications', 'answers']) as subject;
  end if;
  -- Desks that were opened before an update need the numbers of places and days in it.
  select * into settings from private.places;
  insert into private.history (author, kind, detail)
    values (me.email, 'places', jsonb_build_object('places', settings.places, 'days', settings.days, 'starts_on', starts_on,
      'ends_on', ends_on, 'venue', venue));
  return public.desk_places(edition => former.id);
end
$$;
