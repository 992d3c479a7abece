-- Letters to applicants: their texts. 11_deliveries.sql sends them.

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
  refused_at timestamptz not null default '-infinity'
);

-- Whether a time is in the last minute: a heartbeat or a request counts for this long.
create function private.is_recent(moment timestamptz) returns boolean
  language sql stable
  return moment > now() - interval '1 minute';
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

-- The address of letters to an applicant: the one that they gave, or the organisers' replacement. Blanks around it are no part of
-- an address, and a mail server would refuse them.
create function private.address_of(application uuid, given text) returns text
  language sql stable set search_path = ''
  begin atomic
    select private.trimmed(coalesce((select address from private.addresses where application_id = application), given));
  end;

-- The order of locks (docs/decisions/0074): the caller's act; templates by name; editions, then their announcements; applications
-- and their statuses by id; questions by id, then answers; letters by id; deliveries, the latest first; the postman's row;
-- invitations; the results of other acts last. Locking an application serialises the changes of its letters. A server that claims a
-- delivery begins with the delivery, and waits for nothing that comes before it.
create function private.lock_for_letters(applications uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from public.retreat_applications where id = any (applications) order by id for no key update;
  perform from private.statuses where application_id = any (applications) order by application_id for share;
end
$$;

-- Locks letters, their applications, and their templates, which cannot be removed meanwhile. Takes ids of letters and of
-- deliveries. For a receipt, which has no letter, it locks only the application.
create function private.lock_letters(ids uuid[]) returns void
  language plpgsql set search_path = ''
as $$
declare
  wanted constant uuid[] := ids || array(
    select letter_id from private.deliveries where id = any (ids) and letter_id is not null
  );
begin
  perform from private.templates
    where name in (select template from private.letters where id = any (wanted))
    order by name for key share;
  perform private.lock_for_letters(array(
    select application_id from private.letters where id = any (wanted)
    union select application_id from private.deliveries where id = any (ids)
  ));
  -- A server that has claimed a delivery may add another one for the same letter, which must not wait for this lock.
  perform from private.letters where id = any (wanted) order by id for no key update;
end
$$;

-- Refuses more than 1,000 ids in one call.
create function private.check_number(ids uuid[]) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if cardinality(ids) > 1000 then
    raise exception 'At most 1,000 letters are acted on at once.' using errcode = '22023';
  end if;
end
$$;
