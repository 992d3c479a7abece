-- Tables of the door, and of visits to the page.

-- One row: the state of the door.
create table private.door (
  is_only boolean primary key default true check (is_only),
  -- Incremented by each change, and once more if the door had closed automatically before the change.
  version integer not null default 0,
  closed boolean not null default false,
  -- The sentence for applicants while it is closed.
  sentence text not null default '',
  closes_at timestamptz,
  closes_after integer check (closes_after > 0),
  opened_at timestamptz not null default '-infinity',
  -- Applications since it was opened, counted only while `closes_after` is set.
  received integer not null default 0,
  -- Until this time, an application that an edition which ended within the last hour has is not stored again. It counts as a retry
  -- after a lost response.
  repeats_until timestamptz,
  -- Nothing uses this any more. The next release drops it.
  edition_since timestamptz not null default '-infinity'
);
insert into private.door default values;
alter table private.door enable row level security;

-- Our own server counts them. Visits of a hosted page are not counted.
create table private.visits (
  day date not null,
  -- The `from`, blank if the address had none. `other`: it is not a valid name, or the day has its 200 names already.
  source text not null check (source ~ '^[a-z0-9_-]{0,40}$'),
  -- Documents that were served.
  visits integer not null,
  -- How often the page's script was fetched, which happens when somebody begins to type. Its requests have no source.
  starts integer not null,
  primary key (day, source)
);
alter table private.visits enable row level security;

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
