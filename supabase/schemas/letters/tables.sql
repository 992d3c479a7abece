-- Tables of letters: their settings and texts, and the deliveries of everything that is sent.

-- The templates. Each of the three decisions has one that is named like its status. The receipt and the reminder to people
-- without an RSVP have one each. So have the confirmation and the reminder of questions, which guests get. Organisers add others.
create table private.templates (
  name text primary key check (name <> ''),
  version integer not null default 0,
  subject text not null,
  body text not null
);
alter table private.templates enable row level security;

-- One row: the organisers' settings for all letters.
create table private.letter_settings (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  -- The reply address; blank: the sender's.
  reply_to text not null default '',
  -- The time between release and sending, in which a letter can be stopped.
  hold interval not null default '1 minute',
  -- Whether applicants are sent a receipt, and people who are coming a confirmation.
  receipts boolean not null default false,
  confirmations boolean not null default false
);
insert into private.letter_settings default values;
alter table private.letter_settings enable row level security;

-- One row: the state of sending. The postman is a server that hands emails over to the mail server.
create table private.postman (
  is_only boolean primary key default true check (is_only),
  -- Organisers stopped all emails and decisions to an automation.
  stopped boolean not null default false,
  -- The last heartbeat of a postman.
  seen_at timestamptz not null default '-infinity',
  -- When the next email may be sent, by any server.
  next_at timestamptz not null default '-infinity',
  -- The back-off for all emails: failures in a row, and when the mail server is tried again.
  failures integer not null default 0,
  paused_until timestamptz not null default '-infinity',
  problem text not null default '',
  -- The last heartbeat of a server that sends decisions to an automation.
  automation_seen_at timestamptz not null default '-infinity',
  -- The start of the current hour, and the receipts and notices claimed in it, at most a hundred.
  hour_began_at timestamptz not null default '-infinity',
  in_hour integer not null default 0,
  -- When the mail server began to fail; null while it accepts emails.
  failing_since timestamptz,
  -- The check of the mail server and the sender's domain: when it was requested, started and finished, and its findings.
  check_wanted_at timestamptz not null default '-infinity',
  check_begun_at timestamptz not null default '-infinity',
  checked_at timestamptz not null default '-infinity',
  findings jsonb not null default '[]',
  -- The emails that the mail server refused since it last accepted one, for a reason that may be about all emails; and when it
  -- refused the first of them, or last began a pause (docs/decisions/0072).
  suspects uuid[] not null default '{}',
  refused_at timestamptz not null default '-infinity',
  -- The last heartbeat of a server that sends applications to a webhook.
  webhook_seen_at timestamptz not null default '-infinity'
);

insert into private.postman default values;
alter table private.postman enable row level security;

-- The letters to applicants: one row for each application and template, and one for each letter to one person.
create table private.letters (
  id uuid primary key default gen_random_uuid(),
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  -- The template's name; null in a letter to one person. Removing a template keeps its letters.
  template text,
  -- `draft`: it waits for an organiser. `released`: it is being sent, was sent, or could not be sent. `dropped`: an organiser
  -- removed it, or it must no longer be sent.
  state text not null default 'draft' check (state in ('draft', 'released', 'dropped')),
  -- Null: the letter has its template's text.
  subject text,
  body text,
  -- Counts the changes of the text.
  version integer not null default 0,
  -- When it became a draft.
  drafted_at timestamptz not null default now(),
  unique (application_id, template),
  constraint letters_text check ((subject is null) = (body is null) and (template is not null or subject is not null))
);
alter table private.letters enable row level security;
-- Finds drafts at once, regardless of how many letters were sent.
create index letters_drafts on private.letters (coalesce(template, ''), drafted_at, id) where state = 'draft';

-- The addresses with which organisers replaced those that applicants gave. Letters to such an applicant are sent to the
-- replacement.
create table private.addresses (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  address text not null
);
alter table private.addresses enable row level security;

-- One row for each delivery. It is deleted with its application.
create table private.deliveries (
  -- The `webhook-id` or the `Message-ID`, which identifies a repeated delivery to the receiver. For kind `application`, the
  -- application's id.
  id uuid primary key default gen_random_uuid(),
  -- `application`, `rsvp`, `decision`: to a webhook. A `decision` reports the letter about a decision to an automation.
  -- `letter`, `receipt`: an email to an applicant. `notice`: an email to an organiser, about one application or RSVP, a change of
  -- an organiser, or all of a day. `test`: a letter that an organiser tries out.
  kind text not null,
  -- The application that it is about. Null for a daily notice, and for kind `application`: checking its reference would cost more
  -- than the rest of each insert. For a test: the application that it is filled in for.
  application_id uuid references public.retreat_applications (id) on delete cascade,
  -- The letter that is sent, or that a `decision` reports to an automation.
  letter_id uuid references private.letters (id) on delete cascade,
  -- The row in the history of an RSVP, or of a change of an organiser.
  event_id bigint references private.history (id) on delete cascade,
  -- For a notice or a test: the recipient.
  organiser_id uuid references private.organisers (account_id) on delete cascade,
  -- For a daily notice: the period that it covers.
  since timestamptz, until timestamptz,
  -- The text of this delivery. The text of a test is removed after its last try.
  subject text,
  body text,
  state text not null default 'waiting',
  -- For a letter: when it was released.
  queued_at timestamptz not null default now(),
  -- When it is due; while it is being sent, when the lease ends and another server may claim it.
  due_at timestamptz default now(),
  attempts integer not null default 0,
  -- When it was last claimed.
  tried_at timestamptz,
  done_at timestamptz,
  -- The receiver's last reply: the HTTP status, null without a response; and its beginning, or what went wrong.
  reply_status integer,
  reply text not null default '',
  -- If failed: true means permanently refused, false means that the tries are used up.
  is_refused boolean not null default false,
  -- Tries with an unknown result; and tries in which the mail server closed the connection, or which began a pause of all emails.
  may_have_arrived integer not null default 0,
  closings integer not null default 0,
  -- When it was recalled, and by which organiser. `recalled_by` is null if a decision or an RSVP recalled it. A recalled
  -- delivery that is being sent may still arrive, and is not retried.
  recalled_at timestamptz,
  recalled_by text,
  -- For a letter: the id of the act that released it, and the act's author.
  act uuid,
  author text,
  -- For a decision: true if it is sent in addition to the email, false if it replaces the email.
  is_beside boolean not null default false,
  -- The sender: our `server`; or an organiser, by `hand` from their own mail program. `elsewhere`: an organiser told the
  -- applicant another way.
  by text not null default 'server',
  -- For a receipt: the normalised mailbox and its domain, which rate limits count.
  mailbox text, domain text
);
alter table private.deliveries enable row level security;

create index deliveries_of_application on private.deliveries (application_id) where application_id is not null;
create index deliveries_of_letter on private.deliveries (letter_id) where letter_id is not null;
create index deliveries_of_act on private.deliveries (act) where act is not null;
create unique index deliveries_of_event on private.deliveries (event_id, kind, organiser_id) nulls not distinct
  where event_id is not null;
create index deliveries_of_organiser on private.deliveries (organiser_id, kind, queued_at) where organiser_id is not null;
create index deliveries_due on private.deliveries (kind, due_at) where due_at is not null;
-- Finds deliveries that are not done, regardless of how many are done.
create index deliveries_open on private.deliveries (kind, state, queued_at) where state in ('waiting', 'sending', 'failed');
-- The desk's lists, the newest first: pending deliveries to applicants, and those that could not be delivered.
create index deliveries_to_applicants on private.deliveries (queued_at desc, id desc)
  where kind in ('letter', 'decision', 'receipt') and state in ('waiting', 'sending');
create index deliveries_problems on private.deliveries (is_refused, queued_at desc, id desc)
  where kind in ('letter', 'decision', 'receipt') and state = 'failed';
-- Finds the receipts that a mailbox got.
create index deliveries_of_mailbox on private.deliveries (mailbox, queued_at) where mailbox is not null;
create index deliveries_of_domain on private.deliveries (domain, queued_at) where domain is not null;

-- The addresses at which an email to an applicant failed, or from which it came back, each with the last time. An address is removed
-- once the email is accepted there.
create table private.failures (
  delivery_id uuid not null references private.deliveries (id) on delete cascade,
  address text not null,
  at timestamptz not null default now(),
  primary key (delivery_id, address)
);
alter table private.failures enable row level security;
