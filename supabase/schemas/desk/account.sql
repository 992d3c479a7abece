-- Organisers: who they are, and how they read applications.

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

-- The calling organiser; other callers are refused. The email is as people read it, also as the author in the history. Each desk
-- function calls this first, as its own statement: the planner chooses the order of conditions in a `where`.
create function private.caller(out id uuid, out email text, out blind boolean)
  language plpgsql stable set search_path = ''
as $$
begin
  if not private.is_organiser() then
    raise exception 'permission denied: not an organiser' using errcode = '42501';
  end if;
  select users.id, private.unicode_email(users.email), organisers.blind into caller.id, caller.email, caller.blind
    from private.organisers join auth.users on users.id = account_id where account_id = auth.uid();
end
$$;

-- An author as organisers read it: the organiser's name, otherwise `author`, which is the email at the time of the act. Tables
-- without the author's account find the organiser by that email. Names are read with the acts, so that a new name is shown
-- everywhere.
create function private.author_shown(author text, account uuid default null) returns text
  language sql stable set search_path = ''
as $$
  select coalesce((
    select name from private.organisers join auth.users on users.id = account_id
    where name is not null and account_id = coalesce(account, account_id)
      and (account is not null or private.unicode_email(email) = author)
    limit 1
  ), author)
$$;

-- Sets an organiser's name; a blank one removes it. Nobody gets the name of another organiser, an address, or a word that the
-- history uses for other authors.
create function private.set_organiser_name(account uuid, name text) returns void
  language plpgsql set search_path = ''
as $$
declare
  new_name text := nullif(private.trimmed(coalesce(name, '')), '');
begin
  if char_length(new_name) > 60 or new_name ~ '[[:cntrl:]@]' then
    raise exception 'A name has at most 60 characters, and no “@”.' using errcode = '22023';
  elsif lower(new_name) in ('applicant', 'operator', 'server') or exists (
    select from private.organisers
    where account_id <> set_organiser_name.account and lower(organisers.name) = lower(new_name)
  ) then
    raise exception 'Another author has this name. Add a surname or an initial.' using errcode = '22023';
  end if;
  update private.organisers set name = new_name where account_id = set_organiser_name.account;
end
$$;

-- Whether there are several organisers. A single one needs no marks.
create function private.is_shared() returns boolean
  language sql stable set search_path = ''
as $$
  select count(*) > 1 from (select from private.organisers limit 2) as organisers
$$;
