set local lock_timeout = '1s';

-- One row: what was prepared before the first retreat (calls/first_steps.sql has the rest of its states).
create table private.first_steps (
  is_only boolean primary key default true check (is_only),
  -- The steps that organisers ticked by hand, and `test` since the first test of a letter.
  ticked text[] not null default '{}',
  -- The newest automatic backup, as a server last reported it.
  backed_up_at timestamptz
);
insert into private.first_steps default values;
alter table private.first_steps enable row level security;
revoke all on private.first_steps from public, anon, authenticated;
