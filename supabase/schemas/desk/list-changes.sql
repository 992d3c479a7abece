-- What changed in the lists that a desk shows.

-- The changes of a list that is shown. `shown` has its rows, {id, version}, at most the first thousand. `oldest` is the position
-- of the last row, whatever the order, and null if the list was read to its end. The result has the changed statuses, the ids of
-- erased and of withdrawn applications, the state of all letters, and the RSVPs by id. It also counts the applications that pass the filter and
-- are not shown: those `newer` than all rows, and the others (`older`). `more`: there may be more such applications. `unseen`,
-- their ids and times, is for desks that were opened before an update.
create function private.list_changes(filter jsonb, shown jsonb, oldest jsonb, blind boolean, account uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- In these orders, a row's time says nothing of its position. So unseen applications are counted only if the list was read to
  -- its end.
  is_by_marks boolean := coalesce(filter ->> 'order', '') in ('most yes', 'shuffled');
  -- If the list was read to its end, only new applications are missing, so the newest are searched in every order.
  found record := private.find(
    case when oldest is null then filter - 'order' else filter end, null, 1000, 1000, blind, account);
  last record;
  list_end record;
begin
  if jsonb_array_length(shown) > 1000 then
    raise exception 'At most 1,000 applications can be refreshed at once.' using errcode = '22023';
  end if;
  select (oldest ->> 'created_at')::timestamptz as created_at, (oldest ->> 'id')::uuid as id into last;
  select (found.next ->> 'created_at')::timestamptz as created_at, (found.next ->> 'id')::uuid as id into list_end;
  return (
    with of_list as materialized (
      select id, version from jsonb_to_recordset(shown) as of_list (id uuid, version integer)
    ), unseen as materialized (
      select id, created_at from public.retreat_applications
      where id = any (found.ids) and id not in (select id from of_list) and (oldest is null or not is_by_marks and case
        when is_oldest_first then (created_at, id) <= (last.created_at, last.id)
        else (created_at, id) >= (last.created_at, last.id)
      end)
    ), newest as materialized (
      select application.created_at, id from of_list join public.retreat_applications as application using (id)
      order by 1 desc, 2 desc limit 1
    )
    select jsonb_build_object(
      'changed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'status', standing.status, 'version', standing.version)), '[]')
        from of_list join private.statuses as standing on application_id = id
        where standing.version <> of_list.version
      ),
      'gone', (
        select coalesce(jsonb_agg(id), '[]') from of_list
        where not exists (select from public.retreat_applications as application where application.id = of_list.id)
      ),
      'withdrawn', (
        select coalesce(jsonb_agg(id), '[]')
        from of_list join private.statuses on application_id = id where withdrawn_at is not null
      ),
      'letters', private.letter_states(array(select id from of_list)),
      'marks', private.mark_counts(array(select id from of_list), account),
      'new_notes', private.with_new_notes(array(select id from of_list), account),
      'answers', (
        select coalesce(jsonb_object_agg(application_id, jsonb_build_object('answer_state', answer_state, 'answer', answer,
          'answered_at', answered_at, 'kept_until', kept_until)), '{}')
        from of_list join private.invitations on invitations.application_id = id join private.standings using (application_id)
      ),
      'newer', (
        select count(*) from unseen where not exists (
          select from newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
        )
      ),
      'older', (
        select count(*) from unseen, newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
      ),
      'unseen', (select coalesce(jsonb_agg(to_jsonb(unseen) order by created_at desc, id desc), '[]') from unseen),
      'more', found.next is not null and (oldest is null or case
        when is_oldest_first then list_end < last else list_end > last end)
    )
  );
end
$$;
