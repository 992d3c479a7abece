-- Tables of the desk: organisers, their acts, and what they do about applications.

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
  reads_only boolean not null default false,
  -- Stands in place of the email wherever the desk names an author. Null: they have none.
  name text constraint organisers_name check (name <> '' and char_length(name) <= 60 and name !~ '[[:cntrl:]]'),
  -- Notes from before this time are not new to the organiser.
  notes_from timestamptz not null default now(),
  -- Whether they may only read, mark and write notes (`private.reader_calls`).
  is_reader boolean not null default false
);
create index organisers_day_due on private.organisers (day_due_at) where notices <> 'off';
alter table private.organisers enable row level security;

-- One row for each act of the last day.
create table private.acts (
  act uuid primary key,
  -- Null: an applicant.
  account_id uuid,
  -- The call, and a digest of its arguments.
  call text not null,
  given text not null,
  -- The result, for a retry. Null for calls that return the current state again on a retry. Erasing an application also removes its
  -- entries from the stored results.
  result jsonb,
  at timestamptz not null default now()
);
alter table private.acts enable row level security;
create index acts_at on private.acts (at);

-- The status of an application. No row means New, so that storing an application writes no second row.
create table private.statuses (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  -- Copies of the application's `created_at` and `edition`, so that a list of one status has the order of the list of all.
  created_at timestamptz not null,
  -- `aside`: junk that organisers put aside.
  status text not null check (status in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined', 'aside')),
  -- Incremented by each change. A decision has to name the version that the organiser saw.
  version integer not null,
  -- When this status was set.
  set_at timestamptz not null default now(),
  edition integer not null,
  -- When the applicant withdrew the application; null unless it is withdrawn.
  withdrawn_at timestamptz
);
create index statuses_of_edition on private.statuses (edition, status, created_at desc, application_id desc);
-- Lists the people who have been waitlisted longest.
create index statuses_waitlist on private.statuses (set_at, application_id) where status = 'waitlisted';
create index statuses_withdrawn on private.statuses (edition, status) where withdrawn_at is not null;
alter table private.statuses enable row level security;

-- The events of an application, or of the desk as a whole. Rows are added, never changed, and are erased with their application.
-- The history is shown, and rate limits count its rows. Settings are not read from it: they are columns of other tables.
create table private.history (
  id bigint generated always as identity primary key,
  application_id uuid references public.retreat_applications (id) on delete cascade,
  -- The id of the act (idempotent-acts.sql).
  act uuid not null default gen_random_uuid(),
  at timestamptz not null default now(),
  -- The email address as text, so that it stays when the account is removed.
  author text not null,
  -- `address`: an organiser replaced the applicant's address. `told`: a letter failed, and an organiser told the applicant
  -- another way. `answer`: an RSVP. `questions`: answers to questions, or the questions themselves. `edition`: the next retreat
  -- began, or a retreat got a name. `kept`: an organiser set the applicant's deadline. `link`: an organiser got the applicant's
  -- link. `hold`: an organiser put a hold on the application, or ended it. `retention`: the months of the retention changed, or
  -- due applications were erased. `returned`: a letter came back. `organiser`: what an organiser may do changed. `added`: an
  -- organiser added the person. `withdrawal`: the applicant withdrew the application, or took that back.
  kind text not null check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address', 'told',
    'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention', 'page', 'returned', 'organiser',
    'added', 'withdrawal')),
  detail jsonb not null default '{}',
  -- The author's account; null for applicants and for commands. Not a foreign key, so that it also stays when the account is
  -- removed.
  author_id uuid default auth.uid(),
  -- The call of the act with the digest of its arguments, which recognise a repeat. Null for answers to questions, which a digest would
  -- reveal after they are erased, and for events from before 1.2.1.
  given text,
  unique (application_id, act)
);
create index history_of_no_application on private.history (id) where application_id is null;
create index history_acts on private.history (act);
create index history_notes on private.history (application_id, at) where kind = 'note';
create index history_answers on private.history (at) where kind = 'answer';
create index history_withdrawals on private.history (at) where kind = 'withdrawal';
alter table private.history enable row level security;

create table private.marks (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  -- Not a reference, and the email as text: a mark outlives the account.
  account_id uuid not null,
  author text not null,
  -- Null: taken back. The row stays for `has_seen`.
  mark text check (mark in ('yes', 'maybe', 'no')),
  why text not null default '',
  at timestamptz not null default now(),
  -- Whether the author could see marks of others before giving this one, or before last changing its value.
  is_after_seeing boolean not null default false,
  -- Whether the author could see marks of others after giving this one.
  has_seen boolean not null default false,
  -- Whether everybody could see this mark, because the application was decided.
  was_shown boolean not null default false,
  primary key (application_id, account_id)
);
create index marks_of_account on private.marks (account_id, application_id) where mark is not null;
alter table private.marks enable row level security;

-- Up to which time an organiser has seen the notes about an application. No row: they have not opened it since the first note.
create table private.seen_notes (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  -- Not a reference, like that of a mark.
  account_id uuid not null,
  until timestamptz not null,
  primary key (application_id, account_id)
);
alter table private.seen_notes enable row level security;
