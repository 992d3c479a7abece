-- Erases at most 500 applications that are due, without announcements: on a hosted project, no server erases them. The result
-- is {erased, due}. `due` counts the applications that remain to be erased.
create function public.desk_erase_due(act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  due uuid[];
  total integer;
begin
  if not private.begin_act(act, 'desk_erase_due', '') then
    return coalesce((select result from private.acts where acts.act = desk_erase_due.act), (
      select jsonb_build_object('erased', sum((detail ->> 'erased')::integer), 'due', private.count_due_applications())
      from private.history where history.act = desk_erase_due.act
    ));
  end if;
  due := array(
    select application
    from private.editions cross join lateral private.due_applications(editions.id, private.today(), 500) as application
    order by editions.id limit 500
  );
  perform private.lock_for_erasing(due);
  -- Checked again under the lock, since an organiser may have put a hold on one meanwhile.
  with erased as (
    delete from public.retreat_applications as application
      where id = any (due) and private.erased_on(application) <= private.today() returning edition
  ), remembered as (
    insert into private.history (act, author, kind, detail)
      select desk_erase_due.act, me.email, 'retention', jsonb_build_object('edition', edition, 'erased', count(*))
      from erased group by edition order by edition
  )
  select count(*) into total from erased;
  return private.end_act(act, jsonb_build_object('erased', total, 'due', private.count_due_applications()));
end
$$;
