-- Up to fifty drafts of one template, the oldest first. Without an occasion (null), those of all decisions, status by status.
create function public.desk_drafts(occasion text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  occasions constant text[] := case when occasion is null then '{accepted,waitlisted,declined}' else array[occasion] end;
  ids uuid[] := array(
    select id from private.letters
    where coalesce(template, '') = any (occasions) and state = 'draft'
      and (array_position(occasions, coalesce(template, '')), drafted_at, id) > (
        coalesce((after ->> 'position')::integer, 1),
        coalesce((after ->> 'at')::timestamptz, '-infinity'),
        coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
    order by array_position(occasions, coalesce(template, '')), drafted_at, id limit 50
  );
begin
  return jsonb_build_object('letters', private.drafts_shown(ids, me.blind), 'overview', private.letters_overview(me.blind), 'next', (
    select jsonb_build_object('position', array_position(occasions, coalesce(template, '')), 'at', drafted_at, 'id', id)
    from private.letters where id = ids[50]
  ));
end
$$;
