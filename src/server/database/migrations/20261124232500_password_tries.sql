-- Passwords that were tried for an address, with an account or without, within a quarter of an hour from the first one counted.
do $migration$
begin
  if current_setting('unplugged.auth') = 'supabase' then return; end if;

  create table private.password_tries (
    address_hash bytea primary key,
    began timestamptz not null default now(),
    count integer not null default 1
  );
  alter table private.password_tries enable row level security;
end
$migration$;
