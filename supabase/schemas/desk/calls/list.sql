-- Up to `most` applications with the state of their letters, and the cursor for the next call. Long form answers are cut, the
-- reason after its first line. An ellipsis says that the reason goes on. `reader` is true for a reader, and missing for others.
create function public.desk_list(filter jsonb default '{}', after jsonb default null, most integer default 50) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record;
begin
  if most not between 1 and 1000 then
    raise exception 'A call lists from 1 to 1,000 applications.' using errcode = '22023';
  end if;
  found := private.find(filter, after, most, greatest(1000, 5 * most), me.blind, me.id);
  return jsonb_build_object('next', found.next, 'letters', private.letter_states(found.ids),
    'marks', private.mark_counts(found.ids, me.id), 'new_notes', private.with_new_notes(found.ids, me.id), 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'created_at', created_at, 'team_size', team_size, 'paid_solution', paid_solution,
        'reason', rtrim(line) || case when line = start then '' else ' …' end)
        || case when me.blind then '{}' else private.names(application)
          || jsonb_build_object('email', left(email, 200), 'company', left(company, 200)) end
        || summary order by position), '[]')
    from unnest(found.ids) with ordinality as hit (id, position)
      join public.retreat_applications as application using (id)
      join private.summaries(found.ids, me.blind) on application_id = id,
      private.trimmed(left(reason, 2000)) as start,
      split_part(translate(left(start, 200), E'\r', E'\n'), E'\n', 1) as line
  )) || case when me.is_reader then '{"reader": true}' else '{}' end::jsonb;
end
$$;
