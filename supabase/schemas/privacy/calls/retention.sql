-- How long applications are kept: {version, months, months_for_guests, due, announced, editions, holds}. `due`: the number of
-- applications that are due today. `editions`: [{id, name, ends_on, erased_on, guests_erased_on}], the newest first. `holds`: the
-- hundred applications on which a hold was put last: [{id, first_name, last_name, reason, held_by, held_at}]. Blind readers get
-- no names and reasons.
create function public.desk_retention() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object(
      'version', version, 'months', months, 'months_for_guests', months_for_guests,
      'due', private.count_due_applications(),
      'announced', private.announced_applications(),
      'editions', (
        select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'ends_on', ends_on,
          'erased_on', (ends_on + make_interval(months => months))::date,
          'guests_erased_on', (ends_on + make_interval(months => months_for_guests))::date) order by id desc)
        from private.editions
      ),
      'holds', (
        select coalesce(jsonb_agg(jsonb_build_object('id', application_id, 'held_by', private.author_shown(held_by), 'held_at', held_at)
          || case when me.blind then '{}' else names || jsonb_build_object('reason', reason) end
          order by held_at desc, application_id), '[]')
        from (
          select application_id, held_by, held_at, holds.reason, private.names(application) as names
          from private.holds join public.retreat_applications as application on id = application_id
          order by held_at desc, application_id limit 100
        ) as held
      ))
    from private.retention
  );
end
$$;
