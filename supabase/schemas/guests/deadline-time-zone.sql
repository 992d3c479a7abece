-- The time zone of deadlines.

-- Today's date in the time zone of deadlines.
create function private.today() returns date
  language sql stable set search_path = ''
  begin atomic
    select (now() at time zone coalesce(zone, 'UTC'))::date from private.places;
  end;

-- Whether PostgreSQL knows a time zone by this name. It reads all names, which takes some time.
create function private.is_zone(zone text) returns boolean
  language sql stable set search_path = ''
  begin atomic
    select exists (select from pg_timezone_names where name = zone);
  end;

-- Sets the time zone of deadlines, unless one is set.
create function private.adopt_zone(zone text) returns void
  language plpgsql set search_path = ''
as $$
begin
  if exists (select from private.places where places.zone is null) and private.is_zone(adopt_zone.zone) then
    update private.places set zone = adopt_zone.zone where places.zone is null;
  end if;
end
$$;
