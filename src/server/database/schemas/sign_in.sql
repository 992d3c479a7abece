-- Sign-in of our own server. The tables in `auth` are named like those of Supabase's authentication server, and have those of its
-- columns that our functions use. So the functions work with our server and in a hosted project. This file is not for a hosted
-- project, which has a sign-in of its own.

create schema if not exists private;

create schema auth;
revoke all on schema auth from public;
grant usage on schema auth to anon, authenticated;

create function auth.jwt() returns jsonb language sql stable set search_path = '' as
  $$select nullif(current_setting('request.jwt.claims', true), '')::jsonb$$;
create function auth.uid() returns uuid language sql stable set search_path = '' as
  $$select (auth.jwt() ->> 'sub')::uuid$$;
create function auth.role() returns text language sql stable set search_path = '' as
  $$select auth.jwt() ->> 'role'$$;

create table auth.users (
  id uuid primary key default gen_random_uuid(),
  aud text not null default 'authenticated',
  role text not null default 'authenticated',
  -- In lower case.
  email text not null unique,
  encrypted_password text,
  email_confirmed_at timestamptz,
  recovery_sent_at timestamptz,
  reauthentication_sent_at timestamptz,
  email_change text,
  email_change_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb not null default '{"provider": "email", "providers": ["email"]}',
  raw_user_meta_data jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table auth.identities (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  provider_id text not null,
  provider text not null,
  identity_data jsonb not null,
  last_sign_in_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, provider)
);
create index identities_user_id on auth.identities (user_id);

create table auth.mfa_factors (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  friendly_name text not null default '',
  factor_type text not null default 'totp',
  status text not null default 'unverified' check (status in ('unverified', 'verified')),
  secret text not null,
  last_challenged_at timestamptz,
  -- The newest 30-second step whose code was accepted. Codes of this and earlier steps are refused, so each code works once.
  last_step integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (user_id, friendly_name)
);

create table auth.mfa_challenges (
  id uuid primary key default gen_random_uuid(),
  factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
  created_at timestamptz not null default now(),
  verified_at timestamptz,
  ip_address text not null
);
create index mfa_challenges_factor_id on auth.mfa_challenges (factor_id);

create table auth.sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  aal text not null default 'aal1' check (aal in ('aal1', 'aal2')),
  factor_id uuid references auth.mfa_factors (id) on delete set null,
  -- Refresh tokens are not stored. They are derived from this key and counter, so that the active one can be issued again.
  refresh_token_hmac_key bytea not null,
  refresh_token_counter integer not null default 0,
  -- Tokens with a lower counter are from before the second factor. They are refused without the usual grace period.
  refresh_token_floor integer not null default 0,
  refreshed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_user_id on auth.sessions (user_id);

create table auth.mfa_amr_claims (
  session_id uuid not null references auth.sessions (id) on delete cascade,
  authentication_method text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (session_id, authentication_method)
);

create table auth.one_time_tokens (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  token_type text not null check (token_type in (
    -- `confirmation_token` is the operator's link. An email that a stranger requests does not replace it.
    'confirmation_token', 'recovery_token', 'reauthentication_token',
    'email_change_token_current', 'email_change_token_new'
  )),
  -- The digest of the link. The code has its own digest and expires separately. Either may be missing.
  token_hash text unique,
  code_hash text,
  wrong_codes integer not null default 0,
  -- The address that the email was sent to.
  relates_to text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  -- Wrong codes since the last sign-in, over all emails. `wrong_codes` counts those of the current email's code.
  wrong_codes_in_all integer not null default 0,
  unique (user_id, token_type)
);
create index one_time_tokens_relates_to on auth.one_time_tokens (relates_to);

create table auth.flow_state (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  auth_code uuid unique,
  code_challenge_method text not null check (code_challenge_method in ('s256', 'plain')),
  code_challenge text not null,
  authentication_method text not null,
  created_at timestamptz not null default now(),
  auth_code_issued_at timestamptz
);
create index flow_state_user_id on auth.flow_state (user_id);

-- The addresses, with or without an account, for which a sign-in email was requested within the last minute.
create table private.mail_requests (
  address_hash bytea primary key,
  requested_at timestamptz not null default now()
);
create index mail_requests_requested_at on private.mail_requests (requested_at);

-- A try of a code for an address that has no code reads and writes these rows. So it takes as long as for an address with a code.
create table private.decoys (like auth.one_time_tokens including defaults including indexes);
insert into private.decoys (user_id, token_type, code_hash, relates_to, expires_at)
select gen_random_uuid(), 'recovery_token', encode(sha256(gen_random_uuid()::text::bytea), 'hex'), slot, 'infinity'
from generate_series(0, 63) as slot;

-- The number of emails to an account and of invitations by it within an hour of the first, and of second-factor guesses within a
-- quarter of an hour.
create table private.account_counts (
  user_id uuid not null references auth.users (id) on delete cascade,
  what text not null check (what in ('mails', 'factor guesses', 'invitations')),
  began timestamptz not null default now(),
  count integer not null default 1,
  primary key (user_id, what)
);

-- Password tries for an address, with or without an account, within a quarter of an hour of the first one.
create table private.password_tries (
  address_hash bytea primary key,
  began timestamptz not null default now(),
  count integer not null default 1
);

create table private.signing_keys (
  kid text primary key,
  -- A JWK with its private part.
  jwk jsonb not null,
  created_at timestamptz not null default now(),
  -- When the key stopped signing. The key is published until the tokens that it signed have expired.
  retired_at timestamptz
);
-- Only one key signs at a time.
create unique index signing_keys_active on private.signing_keys ((true)) where retired_at is null;

-- Only the owner has rights on these tables. Even if a right is granted by mistake, others cannot read any row.
alter table auth.users enable row level security;
alter table auth.identities enable row level security;
alter table auth.mfa_factors enable row level security;
alter table auth.mfa_challenges enable row level security;
alter table auth.sessions enable row level security;
alter table auth.mfa_amr_claims enable row level security;
alter table auth.one_time_tokens enable row level security;
alter table auth.flow_state enable row level security;
alter table private.mail_requests enable row level security;
alter table private.decoys enable row level security;
alter table private.account_counts enable row level security;
alter table private.password_tries enable row level security;
alter table private.signing_keys enable row level security;
