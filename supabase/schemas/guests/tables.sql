-- Tables of guests: how many places there are, invitations, questions, and their answers.

-- One row: the organisers' settings, and the addresses that letters need for the RSVP page.
create table private.places (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  -- Null: unknown.
  places integer check (places between 0 and 1000000),
  -- How many days people have for their RSVP, counted from the letter's day.
  days integer not null default 10 check (days between 1 and 365),
  -- The time zone in which a deadline ends. If none is set, a server sets its machine's. Organisers can change it.
  zone text,
  -- The site's address, without a slash at its end; blank until a server stores it.
  site text not null default '',
  -- The letters' sender address; blank until a server that sends emails stores it.
  sender text not null default ''
);
insert into private.places default values;
alter table private.places enable row level security;

-- The invitation of an accepted person: their link, their deadline and their RSVP. It exists for each application that is or was
-- accepted.
create table private.invitations (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  -- 122 random bits, at the end of the link in their letters.
  token uuid not null unique default gen_random_uuid(),
  -- Whether they are accepted now. An acceptance that is taken back and restored keeps its link and its RSVP, unless the
  -- applicant was told another decision meanwhile.
  is_accepted boolean not null,
  -- When a letter first asked them for an RSVP, and when the last reminder was sent.
  told_at timestamptz,
  reminded_at timestamptz,
  -- The last day for an RSVP. A letter's handover sets it, and organisers can move it.
  deadline date,
  -- Whether an organiser set the deadline, which handovers then do not change.
  is_deadline_set boolean not null default false,
  -- Null: none yet.
  rsvp text check (rsvp in ('coming', 'not coming')),
  rsvp_at timestamptz,
  -- Whether the link was left out of the last letter that should have it, because the site's address was unknown.
  is_without_link boolean not null default false
);
create index invitations_not_coming on private.invitations (application_id) where rsvp = 'not coming';
create index invitations_without_link on private.invitations (told_at, application_id) where is_without_link;
alter table private.invitations enable row level security;

-- At most ten questions of each edition.
create table private.questions (
  id uuid primary key default gen_random_uuid(),
  edition integer not null references private.editions (id),
  position integer not null,
  kind text not null check (kind in ('short', 'long', 'choice', 'yes-no')),
  text text not null check (text <> '' and char_length(text) <= 200),
  -- The options of a `choice`.
  choices text[] not null default '{}',
  is_required boolean not null,
  -- Answers to private questions are hidden from blind readers and erased after the retreat. A table of guests has them only if
  -- an organiser chooses their columns.
  is_private boolean not null
);
alter table private.questions enable row level security;

create table private.question_answers (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  question_id uuid not null references private.questions (id) on delete cascade,
  answer text not null check (answer <> '' and char_length(answer) <= 2000),
  answered_at timestamptz not null default now(),
  primary key (application_id, question_id)
);
create index question_answers_question on private.question_answers (question_id);
alter table private.question_answers enable row level security;
