-- The organiser who calls, and what they may do.

-- Whether the caller is an organiser: true or false, never null. Each call reads the database, so that removing an account or
-- ending a session takes effect at once, not only when a token expires.
create function private.is_organiser() returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
declare
  claims jsonb := coalesce(auth.jwt(), '{}');
  has_factor boolean;
begin
  select exists (
    select from auth.mfa_factors where user_id = auth.uid() and status::text = 'verified'
  ) into has_factor;
  return exists (select from private.organisers where account_id = auth.uid())
    and exists (
      select from auth.sessions
      where id = (claims ->> 'session_id')::uuid and user_id = auth.uid()
        -- An account with a second factor must have used it in this session, before this token was issued.
        and (not has_factor or (coalesce(aal::text, '') = 'aal2' and coalesce(claims ->> 'aal', '') = 'aal2'))
    );
-- The token claims have an invalid id.
exception when invalid_text_representation then
  return false;
end
$$;

-- The calls that readers may make. All other calls, such as one that is added later, are refused to them.
create function private.reader_calls() returns text[]
  language sql immutable parallel safe set search_path = ''
as $$
  select array[
    -- Themselves, and how they read.
    'desk_me', 'desk_set_name', 'desk_blind', 'desk_set_blind', 'desk_set_reads_only', 'desk_notices', 'desk_set_notices',
    -- Reading and searching.
    'desk_list', 'desk_refresh', 'desk_application', 'desk_stamp',
    -- Marks and notes.
    'desk_mark', 'desk_note', 'desk_see_notes'
  ]
$$;

-- The calling organiser; other callers are refused, and so are readers if the call is not theirs. The email is as people read it,
-- also as the author in the history. Each desk function calls this first, as its own statement: the planner chooses the order of
-- conditions in a `where`.
create function private.caller(out id uuid, out email text, out blind boolean, out is_reader boolean)
  language plpgsql stable set search_path = ''
as $$
declare
  stack text;
begin
  if not private.is_organiser() then
    raise exception 'permission denied: not an organiser' using errcode = '42501';
  end if;
  select users.id, private.unicode_email(users.email), organisers.blind, organisers.is_reader
    into caller.id, caller.email, caller.blind, caller.is_reader
    from private.organisers join auth.users on users.id = account_id where account_id = auth.uid();
  if caller.is_reader then
    -- PostgreSQL says which call this is, so no call can forget its name or give another one. The innermost comes first.
    get diagnostics stack = pg_context;
    if substring(stack from 'public\.(desk_\w+)\(') = any (private.reader_calls()) is not true then
      raise exception 'Readers may not do this: ask an organiser who may do everything.' using errcode = '42501';
    end if;
  end if;
end
$$;
