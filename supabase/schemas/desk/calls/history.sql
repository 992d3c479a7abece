-- A page of at most fifty history entries that belong to no application, the newest first, such as entries about the door,
-- places, retreats, letters in general and erasures. The result names them `happenings`.
create function public.desk_history(after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  before_id bigint := coalesce((after ->> 'id')::bigint, 9223372036854775807);
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'happenings', coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'at', at, 'author', private.author_shown(author, author_id), 'kind', kind, 'detail', detail) order by id desc), '[]'),
      'next', case when count(*) = 50 then jsonb_build_object('id', min(id)) end)
    from (
      select * from private.history where application_id is null and id < before_id order by id desc limit 50
    ) as page
  );
end
$$;
