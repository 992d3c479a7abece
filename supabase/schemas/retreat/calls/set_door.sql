create function public.desk_set_door(
  version integer, closed boolean, sentence text default '', closes_at timestamptz default null,
  closes_after integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if closed is null then
    raise exception 'The door is open or closed.' using errcode = '22023';
  end if;
  -- A call without a version changes nothing: -1 never matches.
  return private.set_door(me.email, coalesce(version, -1), closed, sentence, closes_at, closes_after);
end
$$;
