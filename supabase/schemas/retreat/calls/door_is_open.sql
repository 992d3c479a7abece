-- {"is_open": true}, or {"is_open": false, "sentence": the sentence for applicants}. Visitors learn nothing else about the door.
create function public.door_is_open() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  state jsonb := private.door_state();
begin
  if (state ->> 'is_open')::boolean then
    return jsonb_build_object('is_open', true);
  end if;
  return jsonb_build_object(
    'is_open', false, 'sentence', coalesce(nullif(left(state ->> 'sentence', 300), ''), 'Applications are closed.')
  );
end
$$;
