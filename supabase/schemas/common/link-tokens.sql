-- Tokens of links in letters.

-- The token of a link in an email as it is stored; null if the text is none.
create function private.stored_token(token text) returns uuid
  language sql immutable parallel safe
as $$
  select case when token ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then token::uuid end
$$;
