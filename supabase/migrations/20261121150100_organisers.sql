-- Who is an organiser: an account, not an address, since on a project that lets anyone sign up an address alone
-- proves nothing.
create table private.organisers (
  account_id uuid primary key references auth.users (id) on delete cascade,
  created_at timestamptz not null default now()
);
alter table private.organisers enable row level security;
revoke all on table private.organisers from public, anon, authenticated;

-- Asked of the database at each call, so that removing an account or ending a session takes effect at once, not when
-- a token ends. True or false, never null.
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
        -- Who has a second factor has to have used it: in this session, and before this token was made.
        and (not has_factor or (coalesce(aal::text, '') = 'aal2' and coalesce(claims ->> 'aal', '') = 'aal2'))
    );
-- Claims that name no account and no session.
exception when invalid_text_representation then
  return false;
end
$$;
revoke all on function private.is_organiser() from public, anon, authenticated;

-- Whom the desk belongs to. Each of its functions begins like this: asked in a `where`, it would be for the planner
-- to say what comes first.
create function public.desk_me() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  if not private.is_organiser() then
    raise exception 'permission denied: not an organiser' using errcode = '42501';
  end if;
  return jsonb_build_object('email', (select email from auth.users where id = auth.uid()));
end
$$;
revoke all on function public.desk_me() from public, anon, authenticated;
grant execute on function public.desk_me() to authenticated;
