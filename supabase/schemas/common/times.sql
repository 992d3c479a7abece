-- Times. One that lies further ahead than a caller could have stored by now was stored before the clock was set back, and does not
-- count. These functions are volatile, as `clock_timestamp` is, so that PostgreSQL can inline them.

-- Whether something happened within this span until now.
create function private.happened_within(moment timestamptz, span interval) returns boolean
  language sql volatile parallel safe
  return moment >= now() - span and moment <= clock_timestamp();

-- Whether a time is still ahead. `most`: how far ahead it can be.
create function private.is_ahead(moment timestamptz, most interval) returns boolean
  language sql volatile parallel safe
  return moment > now() and moment <= clock_timestamp() + most;
