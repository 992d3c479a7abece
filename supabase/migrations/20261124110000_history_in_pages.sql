-- Fifty of what happened to no application, the newest first: to the door, the letters in general, blind reading, and
-- that something was erased.
create function public.desk_history(after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  place bigint := coalesce((after ->> 'id')::bigint, 9223372036854775807);
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'happenings', coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'at', at, 'author', author, 'kind', kind, 'detail', detail) order by id desc), '[]'),
      'next', case when count(*) = 50 then jsonb_build_object('id', min(id)) end)
    from (
      select * from private.history where application_id is null and id < place order by id desc limit 50
    ) as page
  );
end
$$;

revoke all on function public.desk_history(jsonb) from public, anon, authenticated;
grant execute on function public.desk_history(jsonb) to authenticated;

-- How the door stands, and who changed it last: a list of one, or of none.
create or replace function public.desk_door() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.door_state() || jsonb_build_object('history', (
    select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', author, 'kind', kind, 'detail', detail)), '[]')
    from (
      select * from private.history where application_id is null and kind = 'door' order by id desc limit 1
    ) as newest
  ));
end
$$;
