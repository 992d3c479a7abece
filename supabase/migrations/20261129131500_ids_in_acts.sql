-- The next file builds an index with this function.
create function private.ids_in(result jsonb) returns jsonb
  language sql immutable parallel safe
  return jsonb_path_query_array(result, '$[*].id') || jsonb_path_query_array(result, '$[*].application');

revoke all on function private.ids_in(jsonb) from public, anon, authenticated;
