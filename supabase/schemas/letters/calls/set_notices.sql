-- Switches notices on or off. The daily email is sent at the time of day at which notices were switched on.
create function public.desk_set_notices(notices text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_notices.notices is null or desk_set_notices.notices not in ('off', 'each', 'daily') then
    raise exception 'Notices are off, each or daily.' using errcode = '22023';
  end if;
  update private.organisers as organiser set notices = desk_set_notices.notices,
    told_until = case organiser.notices when 'off' then now() else told_until end,
    day_due_at = case organiser.notices when 'off' then now() + interval '1 day' else day_due_at end
    where account_id = me.id and organiser.notices <> desk_set_notices.notices;
  return public.desk_notices();
end
$$;
