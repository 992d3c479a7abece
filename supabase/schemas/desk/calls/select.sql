-- Up to 1,000 applications that pass a filter, with the data needed to act on all of them, and the cursor for the next call.
create function public.desk_select(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind, me.id);
begin
  return jsonb_build_object('next', found.next, 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'status', coalesce(standing.status, 'new'), 'version', coalesce(standing.version, 0))
        || case when me.blind then '{}' else private.names(application) end
      order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      left join private.statuses as standing on application_id = id
  ));
end
$$;
