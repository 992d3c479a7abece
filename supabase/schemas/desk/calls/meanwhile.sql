create function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.list_changes(filter, shown, oldest, me.blind, me.id);
end
$$;
