-- Editions: the days and the venue of each retreat, its places and its acceptances.

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

-- The number of places of an edition; null if it is not set.
create function private.places_of(edition integer) returns integer
  language sql stable set search_path = ''
as $$
  select case when edition = max(id)
    then (select places from private.places) else max(places) filter (where id = edition) end
  from private.editions
$$;

-- What a decision depends on besides the application: the number of accepted applications of an edition, without people who cannot
-- come, and of its places.
create function private.acceptances(edition integer) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'accepted', private.count_with_status('accepted', edition, null) - (
      select count(*) from private.invitations join private.statuses using (application_id)
      where rsvp = 'not coming' and status = 'accepted' and statuses.edition = acceptances.edition
    ), 'places', private.places_of(edition))
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
