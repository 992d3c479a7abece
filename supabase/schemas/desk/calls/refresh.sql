-- The counts (`overview`) and the changes of the shown list, in one snapshot.
create function public.desk_refresh(filter jsonb, zone text, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('overview', private.overview(filter, zone, me.blind, me.id),
    'changes', private.list_changes(filter, shown, oldest, me.blind, me.id) - 'unseen');
end
$$;
