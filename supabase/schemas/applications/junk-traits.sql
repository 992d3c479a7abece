-- Junk: applications that look as if a program had sent them. The desk suggests them, and an organiser puts them aside.

-- What tells junk apart, of some applications that nobody added by hand, in their order. `same_reason` is a digest of the first thousand characters. It ends
-- after a second, with the applications that it has read by then.
create function private.traits(ids uuid[]) returns table (
  id uuid, created_at timestamptz, person text, domain text, same_reason text, is_links boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  blanks constant text := '[' || private.blanks() || ']+';
  ends constant timestamptz := clock_timestamp() + interval '1 second';
begin
  for start in 1..cardinality(ids) by 50 loop
    exit when clock_timestamp() > ends;
    return query
      select application.id, application.created_at, private.person(email),
        lower(reverse(split_part(reverse(email), '@', 1))),
        -- Most blanks are spaces, for which `replace` is much faster.
        md5(regexp_replace(replace(lower(left(reason, 1000)), ' ', ''), blanks, '', 'g')),
        left(reason, 5000) ~* '^(?:[\s,;]*(?:https?://|www\.)\S+)+[\s,;]*$'
      from public.retreat_applications as application where application.id = any (ids[start:start + 49]) and added_by is null;
  end loop;
end
$$;
