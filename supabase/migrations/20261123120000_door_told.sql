-- A closed door is told before one writes: the page asks, with the public key.

-- {"is_open": true}, or {"is_open": false, "sentence": what whoever applies now is told}. Nothing else of the door is a
-- visitor's to know.
create function public.door_is_open() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  state jsonb := private.door_state();
begin
  if (state ->> 'is_open')::boolean then
    return '{"is_open": true}';
  end if;
  return jsonb_build_object(
    'is_open', false, 'sentence', coalesce(nullif(left(state ->> 'sentence', 300), ''), 'Applications are closed.')
  );
end
$$;

revoke all on function public.door_is_open() from public, anon, authenticated;
grant execute on function public.door_is_open() to anon, authenticated;
