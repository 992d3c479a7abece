-- Up to 1,000 complete applications with the organisers' work on them, fewer if they are long, and the cursor for the next
-- call. Returns json, which PostgreSQL builds as text: for jsonb it would copy a megabyte twice.
create function public.desk_export(filter jsonb default '{}', after jsonb default null) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind, me.id);
  fitting integer;
begin
  -- Ends with the application that exceeds 16 MB: an array holds at most 256 MB, and callers should not wait for that much.
  select count(*) into fitting from (
    select coalesce(sum(
      -- By column: PostgreSQL knows these lengths without reading the long answers.
      octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(phone)
      + octet_length(linkedin) + octet_length(company) + octet_length(custom_solution) + octet_length(reason)
      + (
        select coalesce(sum(octet_length(detail ->> 'note')), 0)
        from private.history where application_id = application.id and kind = 'note'
      )
    ) over (order by position rows between unbounded preceding and 1 preceding), 0) as former
    from unnest(found.ids) with ordinality as hit (id, position)
      join public.retreat_applications as application using (id)
  ) as sized where former < 16000000;
  if fitting < cardinality(found.ids) then
    found.ids := found.ids[:fitting];
    select jsonb_build_object('created_at', created_at, 'id', id, 'edition', edition) || case when filter ->> 'order' = 'most yes'
        then jsonb_build_object('yes', (
          select count(*) from private.visible_marks(me.id) where application_id = application.id and mark = 'yes'))
        else '{}' end into found.next
      from public.retreat_applications as application where id = found.ids[fitting];
  end if;
  return json_build_object('next', found.next, 'applications', (
    select coalesce(json_agg(private.form_answers(application, me.blind)
      || (summary || made || jsonb_build_object('marks', coalesce(marks, '[]'))) order by position), '[]')
    from unnest(found.ids) with ordinality as hit (id, position)
      join public.retreat_applications as application using (id)
      -- Left joins: for inner joins, the planner expects one row and compares each row with every other.
      left join private.summaries(found.ids, me.blind) as summaries on summaries.application_id = id
      left join private.made_of(found.ids) as made_of on made_of.application_id = id
      -- Lateral: for a join, the planner would read the marks of all applications.
      left join lateral (
        select jsonb_agg(jsonb_build_object(
          'author', author, 'mark', mark, 'why', why, 'after_seeing', is_after_seeing) order by author, account_id) as marks
        from private.visible_marks(me.id) as visible where visible.application_id = id
      ) as marked on true
  ));
end
$$;
