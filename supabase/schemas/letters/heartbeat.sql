-- Whether a server sends letters.

-- Whether a time is in the last minute: a heartbeat or a request counts for this long.
create function private.is_recent(moment timestamptz) returns boolean
  language sql volatile parallel safe
  return private.happened_within(moment, '1 minute');

-- Whether a server runs that emails letters.
create function private.is_postman_there() returns boolean
  language sql stable set search_path = ''
as $$
  select private.is_recent(seen_at) from private.postman
$$;
