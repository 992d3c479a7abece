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
