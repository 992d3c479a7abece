-- The state of the door, and its last change as `history`, a list of at most one entry.
create function public.desk_door() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.door_state() || jsonb_build_object('history', (
    select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', private.author_shown(author, author_id), 'kind', kind, 'detail', detail)), '[]')
    from (
      select * from private.history where application_id is null and kind = 'door' order by id desc limit 1
    ) as newest
  ));
end
$$;
