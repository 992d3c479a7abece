-- Organisers: who they are, and how they read applications.

-- An organiser is an account, not an address: in a project that lets anyone sign up, an address alone proves nothing.
create table private.organisers (
  account_id uuid primary key references auth.users (id) on delete cascade,
  created_at timestamptz not null default now(),
  -- Names, email, phone, LinkedIn and company are hidden from organisers who read blind.
  blind boolean not null default false,
  -- Which emails about applications the organiser gets: none, one for each application, or one a day.
  notices text not null default 'off' check (notices in ('off', 'each', 'daily')),
  -- The time up to which daily emails have reported applications, and when the next daily email is due.
  told_until timestamptz not null default now(),
  day_due_at timestamptz,
  -- Whether they read without marking, so that nobody waits for their marks.
  reads_only boolean not null default false
);
create index organisers_day_due on private.organisers (day_due_at) where notices <> 'off';
alter table private.organisers enable row level security;

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

-- The calling organiser; other callers are refused. The email is as people read it, also as the author in the history. Each desk function calls this first, as its own statement: the planner
-- chooses the order of conditions in a `where`.
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

-- The calling organiser's email.
create function public.desk_me() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('email', me.email);
end
$$;

-- Whether there are several organisers. A single one needs no marks.
create function private.is_shared() returns boolean
  language sql stable set search_path = ''
as $$
  select count(*) > 1 from (select from private.organisers limit 2) as organisers
$$;

-- How the caller reads (`blind`, `reads_only`), and whether there are other organisers (`is_shared`).
create function public.desk_blind() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('blind', organisers.blind, 'reads_only', reads_only, 'is_shared', private.is_shared())
    from private.organisers where account_id = me.id
  );
end
$$;

create function public.desk_set_reads_only(reads_only boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_reads_only.reads_only is null then
    raise exception '“reads_only” has to be true or false.' using errcode = '22023';
  end if;
  update private.organisers set reads_only = desk_set_reads_only.reads_only where account_id = me.id;
  return public.desk_blind();
end
$$;

create function public.desk_set_blind(blind boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_blind.blind is null then
    raise exception 'Blind reading must be on or off.' using errcode = '22023';
  end if;
  if me.blind <> desk_set_blind.blind then
    update private.organisers set blind = desk_set_blind.blind where account_id = me.id;
    insert into private.history (author, kind, detail)
      values (me.email, 'blind', jsonb_build_object('on', desk_set_blind.blind));
  end if;
  return public.desk_blind();
end
$$;
