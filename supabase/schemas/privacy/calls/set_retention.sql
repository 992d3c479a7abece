-- Sets after how many months applications are erased, null for never. Seven days of announcements begin again.
create function public.desk_set_retention(version integer, months integer, months_for_guests integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.retention;
begin
  if not coalesce(months between 1 and 120, true) or not coalesce(months_for_guests between 1 and 120, true) then
    raise exception 'Applications are erased 1 to 120 months after the retreat, or never.' using errcode = '22023';
  end if;
  select * into former from private.retention for update;
  if (former.months, former.months_for_guests) is not distinct from (months, desk_set_retention.months_for_guests) then
    return public.desk_retention();
  elsif former.version is distinct from desk_set_retention.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.retention set version = former.version + 1, months = desk_set_retention.months,
    months_for_guests = desk_set_retention.months_for_guests;
  perform private.end_announcements(id, 'applications') from private.editions order by id;
  insert into private.history (author, kind, detail)
    values (me.email, 'retention', jsonb_build_object('months', months, 'months_for_guests', months_for_guests));
  return public.desk_retention();
end
$$;
