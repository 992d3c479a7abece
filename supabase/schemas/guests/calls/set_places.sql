-- Sets the number of places, null for unknown; the days that people have for their RSVP; and the time zone of deadlines,
-- null to leave it unchanged.
create function public.desk_set_places(version integer, places integer, days integer, zone text default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.places;
begin
  if not coalesce(places between 0 and 1000000, true) then
    raise exception 'There are 0 to 1,000,000 places.' using errcode = '22023';
  elsif not coalesce(days between 1 and 365, false) then
    raise exception 'There are 1 to 365 days to answer.' using errcode = '22023';
  end if;
  select * into former from private.places for update;
  zone := coalesce(zone, former.zone);
  if zone is distinct from former.zone and not private.is_zone(zone) then
    raise exception 'There is no time zone "%".', left(zone, 100) using errcode = '22023';
  elsif (former.places, former.days, former.zone) is not distinct from (places, days, zone) then
    return public.desk_places();
  elsif former.version is distinct from desk_set_places.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.places as settings set version = former.version + 1, places = desk_set_places.places,
    days = desk_set_places.days, zone = desk_set_places.zone;
  insert into private.history (author, kind, detail)
    values (me.email, 'places', jsonb_build_object('places', places, 'days', days)
      || case when zone is distinct from former.zone then jsonb_build_object('zone', zone) else '{}' end);
  return public.desk_places();
end
$$;
