-- Times. One that lies further ahead than a caller could have stored by now was stored before the clock was set back, and does
-- not count. These functions are volatile, as `clock_timestamp` is, so that PostgreSQL can inline them.

-- Whether something happened within this span until now.
create function private.happened_within(moment timestamptz, span interval) returns boolean
  language sql volatile parallel safe
  return moment >= now() - span and moment <= clock_timestamp();

-- Whether a time is still ahead. `most`: how far ahead it can be.
create function private.is_ahead(moment timestamptz, most interval) returns boolean
  language sql volatile parallel safe
  return moment > now() and moment <= clock_timestamp() + most;

-- A time, or null if it is still ahead.
create function private.if_past(moment timestamptz) returns timestamptz
  language sql volatile parallel safe
  return case when moment <= clock_timestamp() then moment end;

-- Days as a person writes them: `12–15 June 2027`. Blank if they are not set. `application/page-words.ts` writes them the same
-- way.
create function private.days_in_words(starts_on date, ends_on date) returns text
  language sql immutable
  return case
    when starts_on is null or ends_on is null then ''
    when starts_on = ends_on then to_char(starts_on, 'FMDD FMMonth YYYY')
    when extract(year from starts_on) <> extract(year from ends_on)
      then to_char(starts_on, 'FMDD FMMonth YYYY') || ' – ' || to_char(ends_on, 'FMDD FMMonth YYYY')
    when extract(month from starts_on) <> extract(month from ends_on)
      then to_char(starts_on, 'FMDD FMMonth') || ' – ' || to_char(ends_on, 'FMDD FMMonth YYYY')
    else to_char(starts_on, 'FMDD') || '–' || to_char(ends_on, 'FMDD FMMonth YYYY')
  end;
