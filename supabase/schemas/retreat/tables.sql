-- Tables of the door, of visits to the page, of the page's words, and of the first steps.

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
  repeats_until timestamptz
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

-- One row: what organisers say on the applicants' page. A blank text is the default's. On a server, its operator's settings win.
create table private.page (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  title text not null default '',
  tagline text not null default '',
  badge text not null default '',
  -- The text after an application was sent.
  success text not null default '',
  -- The address of a page about privacy, and the words of the link to it.
  privacy_url text not null default '',
  privacy_label text not null default '',
  -- `#rrggbb`
  accent text not null default '',
  -- Facts: what the retreat costs, and when applicants hear back.
  cost text not null default '',
  hear_back text not null default '',
  -- Paragraphs of plain text, with blank lines between them.
  about text not null default '',
  -- Facts that are kept elsewhere: whether the page shows the days, the venue and the time at which the door closes.
  shows_days boolean not null default true,
  shows_venue boolean not null default true,
  shows_closing boolean not null default true,
  -- The title in the settings of the server that started last, for letters; blank if it has none.
  operator_title text not null default ''
);
insert into private.page default values;
alter table private.page enable row level security;

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
