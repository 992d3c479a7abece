-- Ticks a first step, or unticks it, for all organisers.
create function public.desk_tick_step(step text, is_done boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  if is_done is null then
    raise exception '“is_done” has to be true or false.' using errcode = '22023';
  elsif step is null or step <> all (
    '{days,mail,page,questions,application,read,test,door,colleagues,factor,notices,backups,erased,shared}'
  ) then
    raise exception 'There is no such step.' using errcode = '22023';
  end if;
  update private.first_steps
    set ticked = array_remove(ticked, step) || case when is_done then array[step] else '{}' end
    where (step = any (ticked)) <> is_done;
  return public.desk_first_steps();
end
$$;
