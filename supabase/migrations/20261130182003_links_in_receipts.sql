set local lock_timeout = '1s';

create table private.withdrawal_links (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  token uuid not null unique default gen_random_uuid()
);
alter table private.withdrawal_links enable row level security;
revoke all on private.withdrawal_links from public, anon, authenticated;

-- A later migration has the function's content.
create function private.revive_withdrawn() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  return new;
end
$$;
revoke all on function private.revive_withdrawn() from public, anon, authenticated;

create trigger revive_withdrawn before insert on public.retreat_applications
  for each row execute function private.revive_withdrawn();
