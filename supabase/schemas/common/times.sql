-- Times.

-- Whether something happened within this span until now. A future time does not count: it was stored before the clock was set back.
-- It is volatile, as `clock_timestamp` is, so that PostgreSQL can inline it.
create function private.happened_within(moment timestamptz, span interval) returns boolean
  language sql volatile parallel safe
  return moment >= now() - span and moment <= clock_timestamp();
