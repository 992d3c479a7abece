-- Which applications were erased, each by a digest of its id, which is random: a restore does it again. It is written
-- with the erasing itself, whoever erases, and copied to where the backups are.
create table private.erasures (
  digest text primary key,
  erased_at timestamptz not null default now()
);
alter table private.erasures enable row level security;
revoke all on table private.erasures from public, anon, authenticated;

create function private.remember_erasures() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.erasures (digest)
    select encode(sha256(convert_to(id::text, 'UTF8')), 'hex') from erased on conflict do nothing;
  return null;
end
$$;

revoke all on function private.remember_erasures() from public, anon, authenticated;

create trigger remember_erasures after delete on public.retreat_applications
  referencing old table as erased for each statement execute function private.remember_erasures();

-- The name of this database, and of what is restored from its backups: so that nobody takes another's backups away.
create table private.installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);
insert into private.installation default values;
alter table private.installation enable row level security;
revoke all on table private.installation from public, anon, authenticated;
