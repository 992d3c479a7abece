-- Tables of what was erased, and of what is going to be.

-- The erased applications and private answers, each by a digest of its random ids, so that a restore can erase them again. A row
-- is written in the transaction of the erasure, and copied next to the backups.
create table private.erasures (
  digest text primary key,
  erased_at timestamptz not null default now()
);
alter table private.erasures enable row level security;

-- The id of this database, and of databases restored from its backups. Servers use it to avoid removing another database's
-- backups.
create table private.installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);
insert into private.installation default values;
alter table private.installation enable row level security;

-- One row for the applications of an edition, and one for its private answers, while they are announced.
create table private.announcements (
  edition integer not null references private.editions (id) on delete cascade,
  subject text not null check (subject in ('applications', 'answers')),
  -- `days`: on how many days this was announced. `announced_on`: the last of them. `until`: everything that is due up to this day
  -- was announced.
  days integer not null,
  announced_on date not null,
  until date not null,
  -- The number of applications erased so far, for the history.
  erased integer not null default 0,
  primary key (edition, subject)
);
alter table private.announcements enable row level security;

-- One row: after how many months applications are erased. `months_for_guests` is for guests (accepted people whose RSVP is that
-- they are coming), and `months` for everybody else. Null means never.
create table private.retention (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  months integer constraint retention_months check (months between 1 and 120),
  months_for_guests integer constraint retention_months_for_guests check (months_for_guests between 1 and 120)
);
insert into private.retention default values;
alter table private.retention enable row level security;

-- A hold: an organiser keeps an application, with a reason, and the retention does not erase it.
create table private.holds (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  reason text not null check (reason <> '' and char_length(reason) <= 500),
  held_by text not null,
  held_at timestamptz not null default now()
);
alter table private.holds enable row level security;
