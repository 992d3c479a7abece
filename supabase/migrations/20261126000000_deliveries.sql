-- Deliveries take the place of three outboxes: of applications, of RSVPs, and of notices and tests (docs/decisions/0058).
-- Invitations take the place of acceptances, and addresses that organisers set get a table.
-- Copies: private.letters, private.webhook_outbox, private.answer_outbox, private.notices, private.acceptances.

-- Letters and templates have tables of another shape (docs/decisions/0018). What depends on the former rows goes first.
drop trigger begin_wait on private.letters;
drop trigger follow_letter on private.letters;
drop function private.is_overdue(private.letters), private.is_to_applicant(private.letters),
  private.letter_text(private.letters, boolean), private.draft_text(uuid, text, text, uuid),
  private.move(uuid[], text, timestamptz, text, boolean);
drop index private.letters_once, private.letters_of_application, private.letters_of_act, private.letters_drafts,
  private.letters_waiting, private.letters_waits, private.letters_sending, private.letters_problems, private.letters_due,
  private.receipts_due, private.decisions_due, private.letters_mailbox, private.letters_domain;
alter table private.letters rename to former_letters;
alter index private.letters_pkey rename to former_letters_pkey;
alter table private.former_letters drop constraint letters_application_id_fkey, drop constraint letters_state_check;
alter table private.templates rename to former_templates;
alter index private.templates_pkey rename to former_templates_pkey;

create table private.templates (
  name text primary key check (name <> ''),
  kind text not null default 'other' check (kind in ('receipt', 'decision', 'reminder', 'other')),
  version integer not null default 0,
  subject text not null,
  body text not null
);
alter table private.templates enable row level security;
revoke all on table private.templates from public, anon, authenticated;

-- Keys and references follow the rows: checking each row as it is stored takes twice the time. Until then nobody stores what
-- they refer to.
lock table public.retreat_applications, private.history, private.organisers in share row exclusive mode;

create table private.letters (
  id uuid not null default gen_random_uuid(),
  application_id uuid not null,
  template text,
  state text not null default 'draft' check (state in ('draft', 'released', 'dropped')),
  subject text,
  body text,
  version integer not null default 0,
  drafted_at timestamptz not null default now(),
  constraint letters_text check ((subject is null) = (body is null) and (template is not null or subject is not null))
);
alter table private.letters enable row level security;
revoke all on table private.letters from public, anon, authenticated;

create table private.deliveries (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  application_id uuid,
  letter_id uuid,
  event_id bigint,
  organiser_id uuid,
  since timestamptz,
  until timestamptz,
  subject text,
  body text,
  state text not null default 'waiting',
  queued_at timestamptz not null default now(),
  due_at timestamptz default now(),
  attempts integer not null default 0,
  tried_at timestamptz,
  done_at timestamptz,
  reply_status integer,
  reply text not null default '',
  is_refused boolean not null default false,
  may_have_arrived integer not null default 0,
  closings integer not null default 0,
  recalled_at timestamptz,
  recalled_by text,
  act uuid,
  author text,
  is_beside boolean not null default false,
  by text not null default 'server',
  mailbox text,
  domain text
);
alter table private.deliveries enable row level security;
revoke all on table private.deliveries from public, anon, authenticated;

create function private.check_delivery() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if not (case new.kind
      when 'application' then new.application_id is null
      when 'rsvp' then new.application_id is not null and new.event_id is not null
      when 'notice' then new.organiser_id is not null and (new.application_id is null) = (new.until is not null)
      when 'test' then new.organiser_id is not null
      else new.kind in ('letter', 'decision', 'receipt') and new.application_id is not null and new.subject is not null
        and new.body is not null and case new.kind when 'receipt' then new.mailbox else new.letter_id::text end is not null
    end
    and new.state in ('waiting', 'sending', 'done', 'failed', 'cancelled') and new."by" in ('server', 'hand', 'elsewhere')
    and (new.state in ('waiting', 'sending')) = (new.due_at is not null) and (new.state = 'done') = (new.done_at is not null))
  then
    raise exception 'A delivery of kind "%" and state "%" lacks something, or has too much.', new.kind, new.state
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;
revoke all on function private.check_delivery() from public, anon, authenticated;

create trigger check_delivery before insert or update on private.deliveries
  for each row when (new.kind <> 'application' or new.state <> 'waiting') execute function private.check_delivery();

create table private.invitations (
  application_id uuid not null,
  token uuid not null default gen_random_uuid(),
  is_accepted boolean not null,
  told_at timestamptz,
  reminded_at timestamptz,
  deadline date,
  is_deadline_set boolean not null default false,
  rsvp text check (rsvp in ('coming', 'not coming')),
  rsvp_at timestamptz
);
alter table private.invitations enable row level security;
revoke all on table private.invitations from public, anon, authenticated;

create table private.addresses (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  address text not null
);
alter table private.addresses enable row level security;
revoke all on table private.addresses from public, anon, authenticated;

-- What goes where. A restore of an older backup runs these statements, too.
insert into private.deliveries (id, kind, state, queued_at, due_at, attempts, tried_at, done_at, reply_status, reply)
select application_id, 'application',
  case when delivered_at is not null then 'done' when next_attempt_at is null then 'failed' else 'waiting' end,
  -- The first versions did not store it.
  coalesce(queued_at, created_at), case when delivered_at is null then next_attempt_at end, attempts, waits_since,
  delivered_at, last_status, coalesce(last_answer, '')
from private.webhook_outbox join public.retreat_applications on id = application_id;

insert into private.deliveries (id, kind, application_id, event_id, state, queued_at, due_at, attempts, tried_at, reply)
select id, 'rsvp', application_id, answer_id, case when next_attempt_at is null then 'failed' else 'waiting' end, queued_at,
  next_attempt_at, attempts, waits_since, last_answer
from private.answer_outbox;

-- Nothing that a letter or an RSVP changes meanwhile gets lost. Letters come first, as everywhere.
lock table private.former_letters, private.acceptances in share row exclusive mode;

insert into private.templates (name, kind, version, subject, body)
select occasion, case when occasion = 'received' then 'receipt' when occasion = 'reminder' then 'reminder'
    when occasion in ('accepted', 'waitlisted', 'declined') then 'decision' else 'other' end, version, subject, body
from private.former_templates
on conflict (name) do update set version = excluded.version, subject = excluded.subject, body = excluded.body;

-- One letter for each template: a draft, or what is on its way, or what was taken away as a draft, with what somebody wrote in it;
-- otherwise what was released last. Those to one person each. What an automation was told beside a mail is no letter.
insert into private.letters (id, application_id, template, state, subject, body, version, drafted_at)
select distinct on (application_id, case when occasion = '' then id::text else occasion end)
  case when state = 'draft' or released_at is null then id
    else md5(case when occasion = '' then id::text else application_id::text || occasion end)::uuid end,
  application_id, nullif(occasion, ''),
  case when state = 'draft' then 'draft' when state <> 'withdrawn' or coalesce(uncertain, 0) > 0 then 'released' else 'dropped' end,
  case when is_kept then subject end, case when is_kept then body end, coalesce(version, 0), created_at
from private.former_letters as letter
  left join (
    select distinct application_id, act from private.former_letters where way = 'mail'
  ) as mail using (application_id, act)
  cross join lateral (
    select state in ('waiting', 'sending', 'refused', 'given up') as is_open,
      way = 'automation' and mail is not null as is_beside
  ) as seen
  cross join lateral (
    select state = 'draft' or released_at is null or occasion = '' or is_open and not coalesce(from_template, false) as is_kept
  ) as text
where occasion <> 'received'
order by application_id, case when occasion = '' then id::text else occasion end, is_beside, state = 'draft' desc, is_open desc,
  released_at is null desc, (state <> 'withdrawn' or coalesce(uncertain, 0) > 0) desc,
  coalesce(withdrawn_at, released_at, created_at) desc;

insert into private.deliveries (id, kind, application_id, letter_id, subject, body, state, queued_at, due_at, attempts, done_at,
  reply, is_refused, may_have_arrived, closings, recalled_at, recalled_by, act, author, is_beside, by, mailbox, domain)
select former.id,
  case when former.way = 'automation' then 'decision' when former.occasion = 'received' then 'receipt' else 'letter' end,
  former.application_id, letter.id, former.subject, former.body,
  case former.state when 'sent' then 'done' when 'refused' then 'failed' when 'given up' then 'failed'
    when 'withdrawn' then 'cancelled' else former.state end,
  former.released_at, former.due_at, former.attempts, former.sent_at,
  case when former.state = 'sent' and former.answer in ('sent by hand', 'told otherwise') then '' else coalesce(former.answer, '') end,
  former.state = 'refused', coalesce(former.uncertain, 0), coalesce(former.closings, 0), former.withdrawn_at, former.withdrawn_by,
  former.act, former.author, former.way = 'automation' and mail.is_open is not null,
  case when former.otherwise = 'by hand' or former.state = 'sent' and former.answer = 'sent by hand' then 'hand'
    when former.otherwise = 'told' or former.state = 'sent' and former.answer = 'told otherwise' then 'elsewhere'
    else 'server' end,
  case when former.occasion = 'received' then coalesce(former.mailbox, '') end, former.domain
from private.former_letters as former left join private.letters as letter
  on letter.application_id = former.application_id and case when former.occasion = '' then letter.id = md5(former.id::text)::uuid
    else letter.template = former.occasion end
  left join (
    select application_id, act,
      bool_or(state in ('waiting', 'sending', 'refused', 'given up') and coalesce(uncertain, 0) = 0) as is_open
    from private.former_letters where way = 'mail' group by application_id, act
  ) as mail on mail.application_id = former.application_id and mail.act = former.act
where former.state <> 'draft' and former.released_at is not null and not (
  -- An automation is told what the mail has told, and not before.
  former.way = 'automation' and former.state = 'waiting' and former.attempts = 0 and coalesce(mail.is_open, false)
);

insert into private.invitations (
  application_id, token, is_accepted, told_at, reminded_at, deadline, is_deadline_set, rsvp, rsvp_at)
select application_id, token, is_accepted, told_at, reminded_at, kept_until,
  -- The first versions had it in the history alone.
  coalesce(is_deadline_set, kept_until is not null and exists (
    select from private.history where history.application_id = acceptance.application_id and kind = 'kept'
  )), answer, answered_at
from private.acceptances as acceptance left join (
  select application_id, max(sent_at) as reminded_at from private.former_letters
  where occasion = 'reminder' and state = 'sent' group by application_id
) as reminder using (application_id);

-- A newer backup has them in their table.
insert into private.addresses (application_id, address)
select distinct on (application_id) application_id, detail ->> 'address'
from private.history where kind = 'address' order by application_id, id desc
on conflict do nothing;
-- So far what goes where.

-- In no backup.
insert into private.deliveries (
  id, kind, application_id, event_id, organiser_id, since, until, subject, body, state, queued_at, due_at, attempts, tried_at,
  done_at, may_have_arrived, closings)
select notice.id, case when body is null then 'notice' else 'test' end,
  coalesce(notice.application_id, answered.application_id, example_id), answer_id, organiser_id, since, until,
  case when due_at is not null then subject end, case when due_at is not null then body end,
  case when due_at is null then 'done' else 'waiting' end, created_at, due_at, attempts, tried_at,
  case when due_at is null then coalesce(tried_at, created_at) end, uncertain, closings
from private.notices as notice left join private.history as answered on answered.id = answer_id;

do $$
begin
  if (select count(*) from private.deliveries) <> (select count(*) from private.webhook_outbox)
    + (select count(*) from private.answer_outbox) + (select count(*) from private.notices)
    + (select count(*) from private.former_letters where state <> 'draft' and released_at is not null)
    - (
      select count(distinct twin.id)
      from private.former_letters as twin join private.former_letters as mail using (application_id, act)
      where twin.way = 'automation' and twin.state = 'waiting' and twin.attempts = 0 and twin.released_at is not null
        and mail.way = 'mail' and mail.state in ('waiting', 'sending', 'refused', 'given up') and coalesce(mail.uncertain, 0) = 0
    )
  then
    raise exception 'Not every delivery was taken over: nothing was changed.';
  elsif (select count(*) from private.letters where state = 'draft')
      <> (select count(*) from private.former_letters where state = 'draft')
    or exists (select from private.deliveries where kind in ('letter', 'decision') and letter_id is null)
    or (select count(*) from private.templates) <> (select count(*) from private.former_templates)
  then
    raise exception 'Not every letter was taken over: nothing was changed.';
  elsif (select count(*) from private.invitations) <> (select count(*) from private.acceptances)
    or (select count(rsvp) from private.invitations) <> (select count(answer) from private.acceptances)
  then
    raise exception 'Not every invitation was taken over: nothing was changed.';
  end if;
end
$$;

alter table private.letters
  add primary key (id),
  add unique (application_id, template),
  add foreign key (application_id) references public.retreat_applications (id) on delete cascade;
alter table private.deliveries
  add primary key (id),
  add foreign key (application_id) references public.retreat_applications (id) on delete cascade,
  add foreign key (letter_id) references private.letters (id) on delete cascade,
  add foreign key (event_id) references private.history (id) on delete cascade,
  add foreign key (organiser_id) references private.organisers (account_id) on delete cascade;
alter table private.invitations
  add primary key (application_id),
  add unique (token),
  add foreign key (application_id) references public.retreat_applications (id) on delete cascade;
create index deliveries_of_application on private.deliveries (application_id) where application_id is not null;
create index deliveries_of_letter on private.deliveries (letter_id) where letter_id is not null;
create index deliveries_of_act on private.deliveries (act) where act is not null;
create unique index deliveries_of_event on private.deliveries (event_id, kind, organiser_id) nulls not distinct
  where event_id is not null;
create index deliveries_of_organiser on private.deliveries (organiser_id, kind, queued_at) where organiser_id is not null;
create index deliveries_due on private.deliveries (kind, due_at) where due_at is not null;
create index deliveries_open on private.deliveries (kind, state, queued_at) where state in ('waiting', 'sending', 'failed');
create index deliveries_to_applicants on private.deliveries (queued_at desc, id desc)
  where kind in ('letter', 'decision', 'receipt') and state in ('waiting', 'sending');
create index deliveries_problems on private.deliveries (is_refused, queued_at desc, id desc)
  where kind in ('letter', 'decision', 'receipt') and state = 'failed';
create index deliveries_of_mailbox on private.deliveries (mailbox, queued_at) where mailbox is not null;
create index deliveries_of_domain on private.deliveries (domain, queued_at) where domain is not null;
create index letters_drafts on private.letters (coalesce(template, ''), drafted_at, id) where state = 'draft';

-- Where a server of ours queues deliveries it goes on with the new table at once, also before it is started again.
do $$
begin
  if to_regprocedure('private.enqueue_deliveries()') is not null then
    create or replace function private.enqueue_deliveries() returns trigger
      language plpgsql security definer set search_path = ''
    as $function$
begin
  insert into private.deliveries (id, kind) select id, 'application' from arrived;
  return null;
end
$function$;
  end if;
end
$$;

drop trigger enqueue_answer on private.history;
drop function private.enqueue_answer();
drop function private.enqueue_webhook();
drop function private.write_notices(uuid, bigint);
drop function private.write_day_notices();
drop table private.webhook_outbox, private.answer_outbox, private.notices;
alter table private.postman drop column turns;

create view private.letter_deliveries as
  select delivery.id, delivery.application_id, letter_id, delivery.subject, delivery.body, queued_at, due_at, done_at, recalled_at, recalled_by,
    attempts, may_have_arrived, reply, act, author,
    kind <> 'receipt' and not is_beside as is_main,
    case kind when 'receipt' then 'received' else coalesce(template, '') end as occasion,
    case kind when 'decision' then 'automation' else 'mail' end as way,
    case delivery.state when 'done' then 'sent' when 'cancelled' then 'withdrawn'
      when 'failed' then case when is_refused then 'refused' else 'given up' end else delivery.state end as state,
    case by when 'hand' then 'by hand' when 'elsewhere' then 'told' end as otherwise
  from private.deliveries as delivery left join private.letters on letters.id = letter_id
  where kind in ('letter', 'decision', 'receipt');
revoke all on table private.letter_deliveries from public, anon, authenticated;

create function private.enqueue_rsvp() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.deliveries (kind, event_id, application_id)
    select 'rsvp', new.id, new.application_id from private.postman where automation_seen_at > now() - interval '1 day';
  return null;
end
$$;
revoke all on function private.enqueue_rsvp() from public, anon, authenticated;

create trigger enqueue_rsvp after insert on private.history
  for each row when (new.kind = 'answer') execute function private.enqueue_rsvp();

-- Acceptances are invitations now. A backup before them gets its invitations by src/server/backups/older.ts.
drop function private.fill_in_acceptances();
drop function private.fill_in_deadlines();
drop table private.acceptances, private.former_letters, private.former_templates;
alter function private.keep_acceptance() rename to sync_invitation;
alter function private.keep_door() rename to refuse_when_closed;
alter function private.announce() rename to write_receipts_and_notices;

alter function private.follow_letter() rename to follow_told;
create trigger follow_told after update of state, may_have_arrived on private.deliveries
  for each row when (
    new.letter_id is not null and not new.is_beside
    and (new.state = 'done' and old.state <> 'done' or new.may_have_arrived > old.may_have_arrived)
  )
  execute function private.follow_told();

create table private.acts (
  act uuid primary key,
  account_id uuid,
  call text not null,
  given text not null,
  result jsonb,
  at timestamptz not null default now()
);
alter table private.acts enable row level security;
create index acts_at on private.acts (at);
revoke all on table private.acts from public, anon, authenticated;

-- In two steps, so that former rows have none.
alter table private.history add column author_id uuid;
alter table private.history alter column author_id set default auth.uid();

create function private.erase_deliveries() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform from private.deliveries where old.id in (id, application_id) order by event_id desc nulls last, id for update;
  delete from private.deliveries where old.id in (id, application_id);
  return old;
end
$$;
revoke all on function private.erase_deliveries() from public, anon, authenticated;

create trigger erase_deliveries before delete on public.retreat_applications
  for each row execute function private.erase_deliveries();

-- No trigger names the columns of an application: each takes it as a whole.
create function private.search_octets(application public.retreat_applications) returns integer
  language sql immutable parallel safe
as $$
  select 3 * (octet_length(application.first_name) + octet_length(application.last_name) + octet_length(application.email)
      + octet_length(application.linkedin) + octet_length(application.company) + octet_length(application.custom_solution)
      + octet_length(application.reason))
    - 2 * (char_length(application.first_name) + char_length(application.last_name) + char_length(application.email)
      + char_length(application.linkedin) + char_length(application.company) + char_length(application.custom_solution)
      + char_length(application.reason))
$$;
revoke all on function private.search_octets(public.retreat_applications) from public, anon, authenticated;
grant execute on function private.search_octets(public.retreat_applications) to anon, service_role;
create or replace trigger keep_search_vectors_changed after update on public.retreat_applications for each row
  when (private.search_octets(old) > 2000 or private.search_octets(new) > 2000)
  execute function private.keep_search_vectors();
create or replace trigger refuse_too_long before insert or update on public.retreat_applications for each row
  when (pg_column_size(new) > 10000)
  execute function private.refuse_too_long();

-- How each application stands. The functions below read it.
create function private.rsvp_state(
  is_accepted boolean, told_at timestamptz, deadline date, rsvp text, today date
) returns text
  language sql immutable
  return case
    when not is_accepted then null
    when rsvp is not null then rsvp
    when told_at is null then 'not told'
    when deadline < today then 'late'
    else 'no answer'
  end;
revoke all on function private.rsvp_state(boolean, timestamptz, date, text, date) from public, anon, authenticated;
create view private.standings as
  select application.id as application_id, private.person(application.email) as person,
    coalesce(decided.status, 'new') as status, coalesce(decided.version, 0) as version,
    private.rsvp_state(coalesce(is_accepted, false), told_at, deadline, rsvp, (select private.today())) as answer_state,
    rsvp as answer, rsvp_at as answered_at, deadline as kept_until
  from public.retreat_applications as application
    left join private.statuses as decided on decided.application_id = application.id
    left join private.invitations as invitation on invitation.application_id = application.id and is_accepted;
revoke all on table private.standings from public, anon, authenticated;

-- Applications belong to editions (docs/decisions/0062). Late, since nobody can read applications from here on. The two files after
-- this one let the index of what is stored once know them.
create table private.editions (
  id integer primary key,
  name text not null default '',
  began_at timestamptz not null
);
alter table private.editions enable row level security;
revoke all on table private.editions from public, anon, authenticated;
insert into private.editions (id, began_at) values (1, '-infinity');

-- The form answers of an application as an organiser may see them. Organisers who read blind see only the columns named here. The
-- function sets no search path, so that PostgreSQL can inline it. As text, as each function of a row of applications: newer minor
-- versions refuse a new column of a table whose row type a stored expression uses.
create or replace function private.answers(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable
as $$
  select case
    when blind then jsonb_build_object(
      'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
      'custom_solution', application.custom_solution, 'team_size', application.team_size,
      'reason', application.reason, 'consent', application.consent)
    else to_jsonb(application) - 'edition'
  end
$$;

alter table public.retreat_applications add column edition integer not null default 1;

-- The words of the templates that nobody changed, in a database that nobody applied to yet. Elsewhere letters stay as organisers
-- read them.
update private.templates set body = replace(replace(replace(replace(body,
    E'\n\nwe ', E'\n\nWe '),
    E'\n\nthank you', E'\n\nThank you'),
    'Or just answer this letter.', 'Or just reply to this email.'),
    'we write to you at once.', 'we will write to you at once.')
  where version = 0 and not exists (select from public.retreat_applications);

-- Marks.
alter table private.organisers add column reads_only boolean not null default false;
create table private.marks (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  account_id uuid not null,
  author text not null,
  mark text check (mark in ('yes', 'maybe', 'no')),
  why text not null default '',
  at timestamptz not null default now(),
  is_after_seeing boolean not null default false,
  has_seen boolean not null default false,
  was_shown boolean not null default false,
  primary key (application_id, account_id)
);
create index marks_of_account on private.marks (account_id, application_id) where mark is not null;
alter table private.marks enable row level security;
revoke all on table private.marks from public, anon, authenticated;

-- A decision shows the marks of its application to everybody.
create function private.show_marks() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  update private.marks set was_shown = true
    where application_id = new.application_id and mark is not null and not was_shown;
  return null;
end
$$;

revoke all on function private.show_marks() from public, anon, authenticated;

create trigger show_marks after insert or update on private.statuses
  for each row when (private.is_decision(new.status)) execute function private.show_marks();

-- Putting aside is a status of its own.
alter table private.statuses drop constraint statuses_status_check, add constraint statuses_status_check
  check (status in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined', 'aside')) not valid;

-- Gives a door that still counts the number of an application that is put aside, and takes it again when the application comes
-- back. A door that has closed stays closed.
create function private.count_aside() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  update private.door set received = received + case when new.status = 'aside' then -1 else 1 end
    where not closed and received < closes_after and (closes_at is null or closes_at > now())
      and new.created_at >= opened_at and received + (new.status <> 'aside')::integer > 0;
  return null;
end
$$;

revoke all on function private.count_aside() from public, anon, authenticated;

create trigger count_aside after update of status on private.statuses
  for each row when ((old.status = 'aside') <> (new.status = 'aside')) execute function private.count_aside();

-- Visits to the page, by day and by the `from` of its address.
create table private.visits (
  day date not null,
  source text not null check (source ~ '^[a-z0-9_-]{0,40}$'),
  visits integer not null,
  starts integer not null,
  primary key (day, source)
);
alter table private.visits enable row level security;
revoke all on table private.visits from public, anon, authenticated;

-- The functions that changed. `npm run schema` writes what follows: edit the declared schema instead.
-- A limit against abuse, far longer than any real answer. A trigger instead of a constraint keeps older rows valid,
-- including restored ones, and gives applicants a readable message.
create or replace function private.refuse_too_long() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  answer record;
begin
  for answer in
    select key as name, value, case when key in ('custom_solution', 'reason') then 100000 else 10000 end as max_length
    from jsonb_each_text(to_jsonb(new))
  loop
    if char_length(answer.value) > answer.max_length then
      raise exception 'The answer "%" is too long: it may have up to % characters.',
        answer.name, ltrim(to_char(answer.max_length, '999,999')) using errcode = '23514', column = answer.name;
    end if;
  end loop;
  return new;
end
$$;

-- Whether the caller is an organiser: true or false, never null. Each call reads the database, so that removing an account or
-- ending a session takes effect at once, not only when a token expires.
create or replace function private.is_organiser() returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
declare
  claims jsonb := coalesce(auth.jwt(), '{}');
  has_factor boolean;
begin
  select exists (
    select from auth.mfa_factors where user_id = auth.uid() and status::text = 'verified'
  ) into has_factor;
  return exists (select from private.organisers where account_id = auth.uid())
    and exists (
      select from auth.sessions
      where id = (claims ->> 'session_id')::uuid and user_id = auth.uid()
        -- An account with a second factor must have used it in this session, before this token was issued.
        and (not has_factor or (coalesce(aal::text, '') = 'aal2' and coalesce(claims ->> 'aal', '') = 'aal2'))
    );
-- The token claims have an invalid id.
exception when invalid_text_representation then
  return false;
end
$$;

drop function private.caller();

-- The calling organiser; other callers are refused. Each desk function calls this first, as its own statement: the planner
-- chooses the order of conditions in a `where`.
create function private.caller(out id uuid, out email text, out blind boolean)
  language plpgsql stable set search_path = ''
as $$
begin
  if not private.is_organiser() then
    raise exception 'permission denied: not an organiser' using errcode = '42501';
  end if;
  select users.id, users.email, organisers.blind into caller.id, caller.email, caller.blind
    from private.organisers join auth.users on users.id = account_id where account_id = auth.uid();
end
$$;

revoke all on function private.caller() from public, anon, authenticated;

-- Whether several organisers read applications. A single one needs no marks.
create function private.is_shared() returns boolean
  language sql stable set search_path = ''
as $$
  select count(*) > 1 from (select from private.organisers limit 2) as organisers
$$;

revoke all on function private.is_shared() from public, anon, authenticated;

-- How the caller reads: blind, without marking.
create or replace function public.desk_blind() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('blind', organisers.blind, 'reads_only', reads_only, 'is_shared', private.is_shared())
    from private.organisers where account_id = me.id
  );
end
$$;

create function public.desk_set_reads_only(reads_only boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_reads_only.reads_only is null then
    raise exception 'An organiser reads only, or also marks.' using errcode = '22023';
  end if;
  update private.organisers set reads_only = desk_set_reads_only.reads_only where account_id = me.id;
  return public.desk_blind();
end
$$;

revoke all on function public.desk_set_reads_only(boolean) from public, anon, authenticated;
grant execute on function public.desk_set_reads_only(boolean) to authenticated;

create or replace function public.desk_set_blind(blind boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_blind.blind is null then
    raise exception 'Blind reading must be on or off.' using errcode = '22023';
  end if;
  if me.blind <> desk_set_blind.blind then
    update private.organisers set blind = desk_set_blind.blind where account_id = me.id;
    insert into private.history (author, kind, detail)
      values (me.email, 'blind', jsonb_build_object('on', desk_set_blind.blind));
  end if;
  return public.desk_blind();
end
$$;

-- Folds a text: removes accents and case, and splits addresses into words. Some characters fold into eighteen. No language
-- needs more than three, so the result is cut at three times the longest text. Older rows were indexed without the cut.
create or replace function private.folded(said text) returns text
  language plpgsql immutable parallel safe
as $$
begin
  -- Most texts are ASCII. For them this is several times as fast as the general case below.
  if octet_length(said) = char_length(said) then
    return regexp_replace(lower(said collate "C"), '[@.:/_+<>&-]', ' ', 'g');
  end if;
  -- Removes accents and invisible characters, such as joiners and soft hyphens.
  said := regexp_replace(left(normalize(lower(said collate "und-x-icu"), nfkd), 40000),
    '[\u0300-\u036f\u00ad\u200c-\u200f\u2060\ufe00-\ufe0f\ufeff]', '', 'g');
  -- Also splits at quotes, dashes, arrows and emoji: a database without a locale treats them as letters.
  return regexp_replace(said,
    '[@.:/_+<>&\u00a1-\u00bf\u2000-\u2bff\u3000-\u3004\u3008-\u3020\u3030\U0001f000-\U0001faff-]', ' ', 'g');
end
$$;

-- The words of an application. Organisers who read blind search without the personal form answers.
create function private.words(application public.retreat_applications, blind boolean) returns tsvector
  language sql immutable parallel safe
as $$
  select case
    when blind then private.search_vector('', '', '', '', '', application.custom_solution, application.reason)
    else private.search_vector(application.first_name, application.last_name, application.email, application.linkedin,
      application.company, application.custom_solution, application.reason)
  end
$$;

revoke all on function private.words(retreat_applications, boolean) from public, anon, authenticated;

create or replace function private.keep_search_vectors() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  answers tsvector;
begin
  -- An application that an update made short keeps its row.
  if tg_op = 'INSERT' and private.search_octets(new) <= 2000 then return null; end if;
  -- The long answers are folded once.
  answers := private.words(new, true);
  insert into private.search_vectors values (new.id, strip(answers || private.search_vector(
      new.first_name, new.last_name, new.email, new.linkedin, new.company, '', '')), strip(answers))
    on conflict (application_id) do update set vector = excluded.vector, blind_vector = excluded.blind_vector;
  return null;
end
$$;

-- The ids of up to 1,001 applications, found with the index.
create or replace function private.indexed(query tsquery) returns uuid[]
  -- Otherwise the planner may scan all rows, which is slow if rows are long.
  language sql stable set search_path = '' set enable_seqscan = off set enable_indexscan = off
as $$
  select array_agg(id) from (
    select id from public.retreat_applications as application where private.words(application, false) @@ query limit 1001
  ) as hit
$$;

-- Parses a search into `query`, null if it has no word. `hits` are the ids of the applications found, null if there are too
-- many. All words have to match. From three letters on, the start of the last word is enough.
create function private.search(search text, blind boolean, out query tsquery, out hits uuid[])
  language plpgsql stable set search_path = ''
as $$
declare
  words text[] := regexp_split_to_array(btrim(private.folded(left(search, 200))), '\s+');
  row_estimate float := (select reltuples from pg_class where oid = 'public.retreat_applications'::regclass);
begin
  select cast(string_agg(
    '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
      || case when place = cardinality(words) and char_length(lexeme) >= 3 then ':*' else '' end, ' & ') as tsquery)
    into query
    from unnest(words) with ordinality as word (said, place),
      unnest(tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, said))) as lexeme;
  if query is null then return; end if;
  -- The index collects all hits, even if few are wanted. So a sample of up to a hundred applications, fewer if they are
  -- long, estimates the number of hits. The sample has the lowest ids, which are random, so that nobody can choose what is
  -- in it. The planner's statistics know common words, but not beginnings that many rare words share.
  if row_estimate > 20000 and row_estimate * (
    select coalesce(avg(fits), 0)
    from (
      select case
          when sum(case when vector is null then private.search_octets(application) else 300 end) over (order by id) <= 30000
          then (coalesce(vector, private.words(application, false)) @@ query)::integer end as fits
      from (select id from public.retreat_applications order by id limit 100) as first_ones
        join public.retreat_applications as application using (id)
        left join private.search_vectors on application_id = id
    ) as sampled
  ) > 20000 then
    return;
  end if;
  hits := private.indexed(query);
  if cardinality(hits) > 1000 then
    hits := null;
  elsif blind then
    hits := array(
      select id from public.retreat_applications as application left join private.search_vectors on application_id = id
      where id = any (hits) and coalesce(blind_vector, private.words(application, true)) @@ query
    );
  else
    hits := coalesce(hits, '{}');
  end if;
end
$$;

revoke all on function private.search(text, boolean) from public, anon, authenticated;

-- Begins an act. Returns false for a retry, after waiting for the first call to finish. Refuses an id that was used with
-- another call, other arguments or another account.
create function private.begin_act(act uuid, call text, variadic given text[]) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  if act is null then
    raise exception 'The act needs an id.' using errcode = '22023';
  end if;
  insert into private.acts (act, account_id, call, given)
    values (begin_act.act, auth.uid(), begin_act.call, md5(begin_act.given::text)) on conflict do nothing;
  if found then
    delete from private.acts where acts.act = any (array(
      select expired.act from private.acts as expired where at < now() - interval '1 day' limit 1000 for update skip locked
    ));
    return true;
  end if;
  perform from private.acts
    where acts.act = begin_act.act and acts.call = begin_act.call and acts.given = md5(begin_act.given::text)
      and account_id is not distinct from auth.uid();
  if not found then
    raise exception 'This id was used for another act: nothing was saved.' using errcode = 'PT409';
  end if;
  return false;
end
$$;

revoke all on function private.begin_act(uuid, text, text[]) from public, anon, authenticated;

-- Stores the result of an act, and returns it.
create function private.end_act(act uuid, result jsonb) returns jsonb
  language sql set search_path = ''
as $$
  update private.acts set result = end_act.result where acts.act = end_act.act returning result
$$;

revoke all on function private.end_act(uuid, jsonb) from public, anon, authenticated;

-- Adds to an application's history.
create or replace function private.write_down(application uuid, act uuid, author text, kind text, detail jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  -- Locks the application until commit: a concurrent erasure waits, or makes this call fail.
  perform from public.retreat_applications where id = application for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- An applicant's request may be signed in, if an organiser opens the link of a letter.
  insert into private.history (application_id, act, author, author_id, kind, detail) values (
    application, write_down.act, write_down.author, case when write_down.author <> 'applicant' then auth.uid() end,
    write_down.kind, write_down.detail
  ) on conflict do nothing;
end
$$;

-- Sets statuses, each only if its version is still the one that the caller saw. `decisions` is an array of {id, status,
-- version, takes_back}. The result has the outcome of each: kept (saved), stale (somebody else changed it; the result says
-- who, and to what), told (it would take back a decision whose letter is sent or being sent), or gone. Repeating the act
-- changes nothing.
create or replace function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  application record;
  current_status private.statuses;
  outcome text;
  last_change record;
  outcomes jsonb := jsonb_build_array();
begin
  if jsonb_array_length(decisions) > 1000 then
    raise exception 'At most 1,000 applications are decided at once.' using errcode = '22023';
  elsif not private.begin_act(act, 'desk_decide', decisions::text) then
    return (select result from private.acts where acts.act = desk_decide.act);
  end if;
  -- Sorted, so that two concurrent calls cannot deadlock.
  for decision in
    select distinct on (id) id, status, version, takes_back
    from jsonb_to_recordset(decisions) as sent (id uuid, status text, version integer, takes_back boolean) order by id
  loop
    select id, created_at into application
      from public.retreat_applications where id = decision.id for no key update;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, created_at, status, version)
      values (application.id, application.created_at, 'new', 0) on conflict do nothing;
    select * into current_status from private.statuses where application_id = application.id for update;
    select author, at into last_change
      from private.history where application_id = application.id and kind = 'status' order by id desc limit 1;
    if decision.version is distinct from current_status.version then
      outcome := 'stale';
    elsif decision.takes_back and exists (
      select from private.letter_deliveries as delivery
      where delivery.application_id = application.id and occasion = current_status.status and state in ('sending', 'sent')
    ) then
      outcome := 'told';
    else
      outcome := 'kept';
      if decision.status is distinct from current_status.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          application.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', current_status.status)
        ) returning author, at into last_change;
        update private.statuses set status = decision.status, version = current_status.version + 1, set_at = now()
          where application_id = application.id returning * into current_status;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', application.id, 'outcome', outcome, 'status', current_status.status, 'version', current_status.version,
      'author', last_change.author, 'at', last_change.at
    );
  end loop;
  return private.end_act(act, outcomes);
end
$$;

create or replace function public.desk_note(act uuid, application uuid, note text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if coalesce(btrim(note, E' \t\r\n'), '') = '' or char_length(note) > 10000 then
    raise exception 'A note has between 1 and 10,000 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_note', application::text, note) then
    perform private.write_down(application, act, me.email, 'note', jsonb_build_object('note', note));
  end if;
  return private.application_details(application, me.blind) -> 'history';
end
$$;

-- The marks that an organiser may see. Everything that shows, counts or sorts marks reads them here. The function sets no
-- search path, so that PostgreSQL can inline it. It joins, since for subqueries PostgreSQL would read 100,000 marks twice as long.
create function private.visible_marks(account uuid) returns setof private.marks
  language sql stable
as $$
  select marks.* from private.marks
    left join private.marks as own
      on own.application_id = marks.application_id and own.account_id = account and own.mark is not null
    left join private.statuses as decided
      on decided.application_id = marks.application_id and private.is_decision(decided.status)
  where marks.mark is not null and (own.mark is not null or decided.status is not null)
$$;

revoke all on function private.visible_marks(uuid) from public, anon, authenticated;

-- For each application with visible marks: the organiser's own mark, and how many there are of each.
create function private.mark_counts(applications uuid[], account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_object_agg(application_id, counts), '{}') from (
    select application_id, jsonb_build_object('own', max(mark) filter (where account_id = account),
      'yes', count(*) filter (where mark = 'yes'), 'maybe', count(*) filter (where mark = 'maybe'),
      'no', count(*) filter (where mark = 'no')) as counts
    from private.visible_marks(account) where application_id = any (applications) group by application_id
  ) as of_application
$$;

revoke all on function private.mark_counts(uuid[], uuid) from public, anon, authenticated;

-- An organiser's own mark of an application, those of others, and the emails of those who have not marked it. `others` and
-- `missing` are null while they are hidden. Null where there is only one organiser.
create function private.marks_shown(application uuid, account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  with visible as materialized (
    select author, account_id, jsonb_build_object(
      'author', author, 'mark', mark, 'why', why, 'at', at, 'after_seeing', is_after_seeing) as shown
    from private.visible_marks(account) where application_id = application
  ), may_see as (
    select exists (select from visible where account_id = account)
      or exists (
        select from private.statuses where application_id = application and private.is_decision(status)
      ) as is_allowed
  )
  select jsonb_build_object(
    'own', (select shown from visible where account_id = account),
    'others', case when is_allowed then (
      select coalesce(jsonb_agg(shown order by author, account_id) filter (where account_id <> account), '[]') from visible
    ) end,
    'missing', case when is_allowed then (
      select coalesce(jsonb_agg(email order by email), '[]')
      from private.organisers join auth.users on users.id = account_id
      where not reads_only and not exists (select from visible where visible.account_id = organisers.account_id)
    ) end
  ) from may_see where private.is_shared()
$$;

revoke all on function private.marks_shown(uuid, uuid) from public, anon, authenticated;

-- Gives the caller's mark of an application, changes it, or takes it back (null). Returns the marks that are shown then.
create function public.desk_mark(act uuid, application uuid, mark text, why text default '') returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  line text := btrim(regexp_replace(coalesce(why, ''), E'[ \\t\\r\\n]+', ' ', 'g'));
  own private.marks;
begin
  if mark not in ('yes', 'maybe', 'no') then
    raise exception 'A mark is yes, maybe or no.' using errcode = '22023';
  elsif char_length(line) > 300 then
    raise exception 'The line about a mark has at most 300 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_mark', application::text, mark, why) then
    -- One after the other, so that each of two concurrent marks takes the other into account.
    perform from public.retreat_applications where id = application for no key update;
    if not found then
      raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
    end if;
    select * into own from private.marks where application_id = application and account_id = me.id;
    if coalesce(own.mark, desk_mark.mark) is not null and (own.mark, own.why) is distinct from (desk_mark.mark, line) then
      insert into private.marks (application_id, account_id, author) values (application, me.id, me.email)
        on conflict do nothing;
      update private.marks set
        author = me.email, mark = desk_mark.mark, at = now(), why = case when desk_mark.mark is null then '' else line end,
        is_after_seeing = has_seen or exists (
          select from private.marks as shown
          where shown.application_id = application and shown.account_id <> me.id and shown.was_shown
        ),
        was_shown = was_shown or desk_mark.mark is not null and exists (
          select from private.statuses where application_id = application and private.is_decision(status)
        )
      where application_id = application and account_id = me.id;
    end if;
    if desk_mark.mark is not null and exists (
      select from private.marks as another
      where another.application_id = application and another.account_id <> me.id and another.mark is not null
    ) then
      update private.marks as standing set has_seen = true
        where standing.application_id = application and standing.mark is not null and not has_seen;
    end if;
  end if;
  return private.marks_shown(application, me.id);
end
$$;

revoke all on function public.desk_mark(uuid, uuid, text, text) from public, anon, authenticated;
grant execute on function public.desk_mark(uuid, uuid, text, text) to authenticated;

-- The form answers of an application as an organiser may see them. Organisers who read blind see only the columns named
-- here. The function sets no search path, so that PostgreSQL can inline it. Like each function that takes a row of
-- applications, it is stored as text. Newer minor versions of PostgreSQL refuse to add a column to a table whose row type a
-- parsed expression uses.
create function private.form_answers(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable
as $$
  select case
    when blind then jsonb_build_object(
      'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
      'custom_solution', application.custom_solution, 'team_size', application.team_size,
      'reason', application.reason, 'consent', application.consent)
    else to_jsonb(application) - 'edition'
  end
$$;

revoke all on function private.form_answers(retreat_applications, boolean) from public, anon, authenticated;

-- The status and the RSVP of some applications, and whether the same email applied again. One query for all applications,
-- since a query for each would be too slow.
create or replace function private.summaries(applications uuid[], blind boolean) returns table (application_id uuid, summary jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    select standing.application_id, jsonb_build_object(
      'status', status, 'version', version, 'answer_state', answer_state, 'answer', answer, 'answered_at', answered_at,
      'kept_until', kept_until, 'same_email', not blind and exists (
        select from public.retreat_applications as other
        where private.person(other.email) = standing.person and other.id <> standing.application_id
      ))
    from unnest(applications) as one (id) join private.standings as standing on standing.application_id = one.id;
end
$$;

-- The form answers that a letter may quote, by placeholder, as the form words them; all null without an application. Blind
-- readers see the form answers that `private.form_answers` shows them, and whether the others are blank. Text in a form
-- answer that looks like an invitation's placeholder gets a space, so that it stays text.
create or replace function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and not shown ? name and btrim(answer, E' \t\r\n') <> '' then '(hidden)'
    else regexp_replace(btrim(case name || ' ' || answer
      when 'paid_solution not' then 'I have not' when 'paid_solution screen' then 'Yes, screen time related'
      when 'paid_solution travel' then 'Yes, travel related' when 'paid_solution work' then 'Yes, work or team related'
      when 'paid_solution custom' then 'Custom' when 'team_size just-me' then 'Just me'
      else answer end, E' \t\r\n'), '\{(?=\{\s*(?:answer_link|reply_by)\s*\}\})', '{ ', 'g') end)
  from jsonb_each_text(coalesce(to_jsonb(application), to_jsonb(jsonb_populate_record(application, '{}')))
    - '{id, created_at, consent, edition}'::text[]) as answers (name, answer), private.form_answers(application, true) as shown
$$;

-- The organisers' work on some applications, for the exported table: the RSVP, the last decision with its author, the notes,
-- and the state of the letters. It has no address and no text of a letter, so that organisers who read blind may read it.
create or replace function private.made_of(applications uuid[]) returns table (application_id uuid, made jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    with happened as (
      select history.application_id as id,
        (array_agg(author order by history.id desc) filter (where kind = 'status'))[1] as author,
        max(at) filter (where kind = 'status') as decided_at,
        jsonb_agg(jsonb_build_object('at', at, 'author', author, 'note', detail ->> 'note') order by history.id)
          filter (where kind = 'note') as notes
      from private.history
      where history.application_id = any (applications) and kind in ('status', 'note') group by 1
    ), written as (
      select delivery.application_id as id, jsonb_agg(jsonb_build_object(
        'occasion', occasion, 'way', way, 'state', state, 'otherwise', otherwise,
        'at', coalesce(done_at, queued_at)) order by queued_at, way = 'automation', delivery.id) as letters
      from private.letter_deliveries as delivery
      where delivery.application_id = any (applications) and state <> 'withdrawn' group by 1
    )
    select each_one, jsonb_build_object(
      'answer', answer, 'answered_at', answered_at,
      'decided_by', author, 'decided_at', decided_at,
      'notes', coalesce(notes, '[]'), 'letters', coalesce(letters, '[]'))
    from unnest(applications) as each_one
      left join happened on happened.id = each_one
      left join written on written.id = each_one
      left join private.standings as standing on standing.application_id = each_one;
end
$$;

-- Up to 1,000 complete applications with the organisers' work on them, fewer if they are long, and the cursor for the next
-- call. Returns json, which PostgreSQL builds as text: for jsonb it would copy a megabyte twice.
create or replace function public.desk_export(filter jsonb default '{}', after jsonb default null) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind, me.id);
  fitting integer;
begin
  -- Ends with the application that exceeds 16 MB: an array holds at most 256 MB, and callers should not wait for that much.
  select count(*) into fitting from (
    select coalesce(sum(
      -- By column: PostgreSQL knows these lengths without reading the long answers.
      octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(phone)
      + octet_length(linkedin) + octet_length(company) + octet_length(custom_solution) + octet_length(reason)
      + (
        select coalesce(sum(octet_length(detail ->> 'note')), 0)
        from private.history where application_id = application.id and kind = 'note'
      )
    ) over (order by position rows between unbounded preceding and 1 preceding), 0) as former
    from unnest(found.ids) with ordinality as hit (id, position)
      join public.retreat_applications as application using (id)
  ) as sized where former < 16000000;
  if fitting < cardinality(found.ids) then
    found.ids := found.ids[:fitting];
    select jsonb_build_object('created_at', created_at, 'id', id) into found.next
      from public.retreat_applications where id = found.ids[fitting];
  end if;
  return json_build_object('next', found.next, 'applications', (
    select coalesce(json_agg(private.form_answers(application, me.blind)
      || (summary || made || jsonb_build_object('marks', coalesce(marks, '[]'))) order by position), '[]')
    from unnest(found.ids) with ordinality as hit (id, position)
      join public.retreat_applications as application using (id)
      -- Left joins: for inner joins, the planner expects one row and compares each row with every other.
      left join private.summaries(found.ids, me.blind) as summaries on summaries.application_id = id
      left join private.made_of(found.ids) as made_of on made_of.application_id = id
      -- Lateral: for a join, the planner would read the marks of all applications.
      left join lateral (
        select jsonb_agg(jsonb_build_object(
          'author', author, 'mark', mark, 'why', why, 'after_seeing', is_after_seeing) order by author, account_id) as marks
        from private.visible_marks(me.id) as visible where visible.application_id = id
      ) as marked on true
  ));
end
$$;

drop function private.find(jsonb, jsonb, integer, integer, boolean);

-- The ids of the applications that pass a filter, in order, and the cursor for the next call, null at the end of the list. A
-- call reads up to `look` candidates, for up to a second. So it may return fewer than `most` ids, even none, before the end
-- of the list.
--
-- Without a status, it leaves out the applications that were put aside. All keys of the filter are optional: status, search,
-- team_size, paid_solution, answer (an RSVP state), since, until, marks and order. Marks are `none of mine`, or `disagree`: a
-- visible Yes and a visible No. By default the newest are first. Other orders are `oldest`, `most yes` (the most visible Yes
-- first) and `shuffled` (another order for each account, the same each time).
create function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, account uuid, out ids uuid[], out next jsonb
)
  -- Most calls end long before `look` candidates. Planned for that many, the query would sort thousands of rows and be
  -- compiled.
  language plpgsql stable set search_path = '' set enable_sort = off set jit = off
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  wanted_rsvp text := filter ->> 'answer';
  query tsquery;
  hits uuid[];
  sorting text := coalesce(filter ->> 'order', 'newest');
  wanted_marks text := filter ->> 'marks';
  is_oldest_first boolean := sorting = 'oldest';
  -- The list is between these two positions, both exclusive.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  since_id uuid := first_id;
  before timestamptz := coalesce((filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := first_id;
  -- The parts of the query.
  source text := 'public.retreat_applications as application';
  position text := 'application.created_at, application.id';
  conditions text[] := array['true'];
  octets text := '0';
  yes text := '0';
  beyond text := 'true';
  sequence text := case sorting when 'oldest' then '1, 2' when 'most yes' then '5 desc, 1 desc, 2 desc'
    when 'shuffled' then 'md5($14 || id::text)' else '1 desc, 2 desc' end;
  candidates refcursor;
  candidate_at timestamptz;
  candidate_id uuid;
  candidate_octets integer;
  candidate_yes integer;
  passes boolean;
  last_at timestamptz;
  last_id uuid;
  last_yes integer;
  looked integer := 0;
  -- The cost of two hundred ordinary applications.
  octets_left integer := 60000;
  ends timestamptz := clock_timestamp() + interval '1 second';
begin
  if wanted not in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined', 'aside') then
    raise exception 'There is no status "%".', left(wanted, 100) using errcode = '22023';
  elsif wanted_rsvp not in ('coming', 'not coming', 'no answer', 'late', 'not told') then
    raise exception 'There is no answer "%".', left(wanted_rsvp, 100) using errcode = '22023';
  elsif wanted_rsvp is not null then
    wanted := coalesce(wanted, 'accepted');
  elsif wanted_marks not in ('none of mine', 'disagree') then
    raise exception 'There are no marks "%".', left(wanted_marks, 100) using errcode = '22023';
  end if;
  if sorting = 'most yes' then
    -- Counts the visible marks of all applications once.
    yes := 'coalesce(tally.yes, 0)';
    beyond := '($15 is null or (coalesce(tally.yes, 0), application.created_at, id) < ($15, $16, $17))';
  elsif sorting = 'shuffled' then
    beyond := '($17 is null or md5($14 || id::text) > md5($14 || $17::text))';
  elsif is_oldest_first then
    since := coalesce((after ->> 'created_at')::timestamptz, since);
    since_id := coalesce((after ->> 'id')::uuid, first_id);
  else
    before := coalesce((after ->> 'created_at')::timestamptz, before);
    before_id := coalesce((after ->> 'id')::uuid, first_id);
  end if;
  ids := '{}';
  if btrim(filter ->> 'search') <> '' then
    select found.query, found.hits into query, hits from private.search(filter ->> 'search', blind) as found;
    -- The search has only punctuation, which matches nothing.
    if query is null then return; end if;
    if hits is null then look := least(look, 200); end if;
  end if;

  if wanted_marks = 'disagree' then
    if query is not null and hits is null then
      conditions := array_append(conditions, 'private.words(application, $8) @@ $7');
    end if;
    hits := array(
      select application_id from private.visible_marks(account) where hits is null or application_id = any (hits)
      group by 1 having bool_or(mark = 'yes') and bool_or(mark = 'no')
    );
  elsif wanted_marks = 'none of mine' then
    conditions := array_append(conditions, 'not exists (
      select from private.marks where application_id = id and account_id = $14 and mark is not null)');
  end if;

  if hits is not null then
    -- `offset 0` makes the planner sort the few hits instead of following an index's order.
    source := '(select * from public.retreat_applications where id = any ($6) offset 0) as application';
  elsif query is not null then
    source := 'public.retreat_applications as application
      left join private.search_vectors as kept on kept.application_id = id';
    conditions := array_append(conditions,
      'coalesce(case when $8 then blind_vector else vector end, private.words(application, $8)) @@ $7');
    -- Reading a stored vector costs as much as searching a short application.
    octets := 'case when vector is null then private.search_octets(application) else 300 end';
  elsif wanted <> 'new' then
    source := 'private.statuses as decided
      left join public.retreat_applications as application on id = decided.application_id';
    beyond := beyond || ' and decided.status = $9';
    position := 'decided.created_at, decided.application_id';
  end if;
  if wanted is null and exists (select from private.statuses where status = 'aside') then
    -- Applications that were put aside are in no other list.
    conditions := array_append(conditions,
      'not exists (select from private.statuses as own where own.application_id = id and own.status = ''aside'')');
  end if;
  -- These two are subqueries: with joins, the planner would read all statuses before the first row.
  if wanted = 'new' or wanted is not null and (query is not null or hits is not null) then
    conditions := array_append(conditions,
      'coalesce((select status from private.statuses as own where own.application_id = id), ''new'') = $9');
  end if;
  if wanted_rsvp is not null then
    conditions := array_append(conditions, '(select private.rsvp_state(is_accepted, told_at, deadline, rsvp, $11)
      from private.invitations as own where own.application_id = id) = any ($10)');
  end if;
  if filter ->> 'team_size' is not null then
    conditions := array_append(conditions, 'team_size = $12');
  end if;
  if filter ->> 'paid_solution' is not null then
    conditions := array_append(conditions, 'paid_solution = $13');
  end if;
  if sorting = 'most yes' then
    source := source || ' left join (
      select application_id as marked_id, count(*)::integer as yes from private.visible_marks($14)
      where mark = ''yes'' group by 1) as tally on marked_id = id';
  end if;
  -- The text contains no values. They are parameters, which PostgreSQL knows when it plans the query.
  open candidates for execute format(
    'select %1$s, %2$s, %3$s, %4$s from %5$s where %6$s and (%1$s) > ($1, $2) and (%1$s) < ($3, $4) order by %7$s limit $5',
    position, octets, array_to_string(conditions, ' and '), yes, source, beyond, sequence
  ) using since, since_id, before, before_id, look + 1, hits, query, blind, wanted,
    case wanted_rsvp when 'no answer' then array['no answer', 'late'] else array[wanted_rsvp] end,
    case when wanted_rsvp is not null then private.today() end,
    filter ->> 'team_size', filter ->> 'paid_solution', account,
    (after ->> 'yes')::integer, (after ->> 'created_at')::timestamptz, (after ->> 'id')::uuid;
  loop
    fetch candidates into candidate_at, candidate_id, candidate_octets, passes, candidate_yes;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      next := jsonb_build_object('created_at', last_at, 'id', last_id)
        || case when sorting = 'most yes' then jsonb_build_object('yes', last_yes) else '{}' end;
      exit;
    end if;
    looked := looked + 1;
    octets_left := octets_left - candidate_octets;
    last_at := candidate_at;
    last_id := candidate_id;
    last_yes := candidate_yes;
    if passes then ids := ids || candidate_id; end if;
  end loop;
  close candidates;
end
$$;

revoke all on function private.find(jsonb, jsonb, integer, integer, boolean, uuid) from public, anon, authenticated;

drop function private.find_one(jsonb, jsonb, boolean);

-- The first application after a position; null if none is found within a tenth of a second.
create function private.find_one(filter jsonb, after jsonb, blind boolean, account uuid) returns uuid
  language plpgsql stable set search_path = ''
as $$
declare
  part record;
  ends timestamptz := clock_timestamp() + interval '0.1 seconds';
begin
  loop
    part := private.find(filter, after, 1, 1000, blind, account);
    exit when cardinality(part.ids) = 1 or part.next is null or clock_timestamp() > ends;
    after := part.next;
  end loop;
  return part.ids[1];
end
$$;

revoke all on function private.find_one(jsonb, jsonb, boolean, uuid) from public, anon, authenticated;

-- The position of an application in a filtered list. `number` is its position, null if it is not among the first thousand.
-- `count` is the length of the list, up to a thousand, and less if few of the first two thousand candidates pass. `previous`
-- and `next` are its neighbours, even if a decision has removed the application itself from the list.
create function private.list_position(application uuid, filter jsonb, blind boolean, account uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  list record := private.find(filter, null, 1000, 2000, blind, account);
  number integer := array_position(list.ids, application);
  sorting text := coalesce(filter ->> 'order', 'newest');
  is_oldest_first boolean := sorting = 'oldest';
  own_position record;
  list_end record;
  count_before integer := number - 1;
  previous uuid;
  next uuid;
begin
  select created_at, id into own_position from public.retreat_applications where id = application;
  select (list.next ->> 'created_at')::timestamptz as created_at, (list.next ->> 'id')::uuid as id into list_end;
  if number is null and list.next is not null and sorting not in ('most yes', 'shuffled') and (
    case when is_oldest_first then own_position > list_end else own_position < list_end end
  ) then
    previous := private.find_one(filter || jsonb_build_object(
      'order', case when is_oldest_first then 'newest' else 'oldest' end), to_jsonb(own_position), blind, account);
    next := private.find_one(filter, to_jsonb(own_position), blind, account);
  else
    if number is null then
      select count(*) into count_before from public.retreat_applications as other
        where other.id = any (list.ids) and case
          when sorting = 'shuffled' then md5(account || other.id::text) < md5(account || own_position.id::text)
          when is_oldest_first then (other.created_at, other.id) < (own_position.created_at, own_position.id)
          else (other.created_at, other.id) > (own_position.created_at, own_position.id)
        end;
    end if;
    previous := list.ids[count_before];
    next := list.ids[coalesce(number, count_before) + 1];
    if next is null and list.next is not null then
      next := private.find_one(filter, list.next, blind, account);
    end if;
  end if;
  return jsonb_build_object('number', number, 'count', cardinality(list.ids), 'more', list.next is not null,
    'previous', previous, 'next', next);
end
$$;

revoke all on function private.list_position(uuid, jsonb, boolean, uuid) from public, anon, authenticated;

-- Groups of the newest 20,000 applications without a decision, or fewer if finding them takes a second. The largest group is
-- first. `reason`: at least three addresses sent the same reason, apart from blanks and case. `links`: the reason is nothing but
-- links. `domain`: 20 or more applied within one hour with addresses of the same domain. Each application is in one group.
create function public.desk_junk() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  undecided_ids uuid[] := (private.find('{"status": "new"}', null, 20000, 50000, me.blind, me.id)).ids;
  -- Of Unicode, too. `translate` takes half the time of a regular expression.
  blanks constant text := E' \t\n\r\f\u000b\u0085\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b'
    '\u202f\u205f\u3000\ufeff';
  -- Large providers, at which many people have their mailbox.
  shared_domains constant text[] := array[
    'aol.com', 'fastmail.com', 'gmail.com', 'gmx.at', 'gmx.ch', 'gmx.de', 'gmx.net', 'googlemail.com', 'hey.com',
    'hotmail.com', 'icloud.com', 'live.com', 'mac.com', 'me.com', 'msn.com', 'orange.fr', 'outlook.com', 'pm.me',
    'proton.me', 'protonmail.com', 'qq.com', 'web.de', 'yahoo.co.uk', 'yahoo.com', 'yahoo.de', 'yahoo.fr',
    'yandex.ru', 'mail.ru', '163.com'
  ];
begin
  return (
    with undecided as materialized (
      select id, application.created_at, first_name, last_name, reason, coalesce(version, 0) as version,
        private.person(email) as person,
        lower(reverse(split_part(reverse(email), '@', 1))) as domain,
        md5(lower(translate(left(reason, 5000), blanks, ''))) as same_reason
      from unnest(undecided_ids) as newest (id)
        join public.retreat_applications as application using (id)
        left join private.statuses on application_id = id
    ), same_reasons as (
      select same_reason from undecided group by 1 having count(distinct person) >= 3
    ), counted as (
      select *, count(*) over (
        partition by domain order by created_at range between interval '1 hour' preceding and current row
      ) as in_an_hour
      from undecided
    ), judged as (
      select *, case
        when same_reason in (select same_reasons.same_reason from same_reasons) then 'reason'
        when left(reason, 5000) ~* '^(?:[\s,;]*(?:https?://|www\.)\S+)+[\s,;]*$' then 'links'
        when max(in_an_hour) over (
          partition by domain order by created_at range between current row and interval '1 hour' following
        ) >= 20 and domain <> all (shared_domains) then 'domain'
      end as kind
      from counted
    ), grouped as (
      select kind, case kind when 'reason' then same_reason when 'domain' then domain else '' end as key, count(*) as count,
        (array_agg(left(regexp_replace(left(reason, 1000), '\s+', ' ', 'g'), 200) order by created_at desc))[1] as example,
        jsonb_agg(jsonb_build_object('id', id, 'status', 'new', 'version', version)
          || case when me.blind then '{}' else jsonb_build_object(
            'first_name', left(first_name, 200), 'last_name', left(last_name, 200)) end order by created_at desc) as applications
      from judged where kind is not null group by 1, 2 order by count desc, key limit 20
    )
    select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'key', case when kind = 'domain' and not me.blind then key end,
      'example', example, 'applications', applications) order by count desc, key), '[]')
    from grouped
  );
end
$$;

revoke all on function public.desk_junk() from public, anon, authenticated;
grant execute on function public.desk_junk() to authenticated;

drop function public.desk_list(jsonb, jsonb);

-- Up to `most` applications with the state of their letters, and the cursor for the next call. Long form answers are cut
-- first.
create function public.desk_list(filter jsonb default '{}', after jsonb default null, most integer default 50) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record;
begin
  if most not between 1 and 1000 then
    raise exception 'A call lists from 1 to 1,000 applications.' using errcode = '22023';
  end if;
  found := private.find(filter, after, most, greatest(1000, 5 * most), me.blind, me.id);
  return jsonb_build_object('next', found.next, 'letters', private.letter_states(found.ids),
    'marks', private.mark_counts(found.ids, me.id), 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'created_at', created_at, 'team_size', team_size, 'paid_solution', paid_solution,
        'reason', split_part(translate(
          left(ltrim(left(reason, 2000), E' \t\r\n'), 200), E'\r', E'\n'), E'\n', 1))
        || case when me.blind then '{}' else jsonb_build_object('first_name', left(first_name, 200),
          'last_name', left(last_name, 200), 'email', left(email, 200), 'company', left(company, 200)) end
        || summary order by position), '[]')
    from unnest(found.ids) with ordinality as hit (id, position)
      join public.retreat_applications as application using (id)
      join private.summaries(found.ids, me.blind) on application_id = id
  ));
end
$$;

revoke all on function public.desk_list(jsonb, jsonb, integer) from public, anon, authenticated;
grant execute on function public.desk_list(jsonb, jsonb, integer) to authenticated;

-- The changes of a list that is shown. `shown` has its rows, {id, version}, at most the first thousand. `oldest` is the
-- position of the last row, null if the list was read to its end. The result has the changed statuses, the ids of erased
-- applications, the state of all letters, and the RSVPs by id. It also counts the applications that pass the filter and are
-- not shown: `newer` than all rows, or between them (`older`). `more`: there may be more such applications. `unseen`, their
-- ids, is for desks that were opened before an update.
create function private.list_changes(filter jsonb, shown jsonb, oldest jsonb, blind boolean, account uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- In an order by marks, only the rows of a list that was read to its end are known to be all.
  is_by_marks boolean := coalesce(filter ->> 'order', '') in ('most yes', 'shuffled');
  -- If the list was read to its end, only new applications are missing, so the newest are searched in either order.
  found record := private.find(
    case when oldest is null then filter - 'order' else filter end, null, 1000, 1000, blind, account);
  last record;
  list_end record;
begin
  if jsonb_array_length(shown) > 1000 then
    raise exception 'At most 1,000 applications can be refreshed at once.' using errcode = '22023';
  end if;
  select (oldest ->> 'created_at')::timestamptz as created_at, (oldest ->> 'id')::uuid as id into last;
  select (found.next ->> 'created_at')::timestamptz as created_at, (found.next ->> 'id')::uuid as id into list_end;
  return (
    with of_list as materialized (
      select id, version from jsonb_to_recordset(shown) as of_list (id uuid, version integer)
    ), unseen as materialized (
      select id, created_at from public.retreat_applications
      where id = any (found.ids) and id not in (select id from of_list) and (oldest is null or not is_by_marks and case
        when is_oldest_first then (created_at, id) <= (last.created_at, last.id)
        else (created_at, id) >= (last.created_at, last.id)
      end)
    ), newest as materialized (
      select application.created_at, id from of_list join public.retreat_applications as application using (id)
      order by 1 desc, 2 desc limit 1
    )
    select jsonb_build_object(
      'changed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'status', standing.status, 'version', standing.version)), '[]')
        from of_list join private.statuses as standing on application_id = id
        where standing.version <> of_list.version
      ),
      'gone', (
        select coalesce(jsonb_agg(id), '[]') from of_list
        where not exists (select from public.retreat_applications as application where application.id = of_list.id)
      ),
      'letters', private.letter_states(array(select id from of_list)),
      'marks', private.mark_counts(array(select id from of_list), account),
      'answers', (
        select coalesce(jsonb_object_agg(application_id, jsonb_build_object('answer_state', answer_state, 'answer', answer,
          'answered_at', answered_at, 'kept_until', kept_until)), '{}')
        from of_list join private.invitations on invitations.application_id = id join private.standings using (application_id)
      ),
      'newer', (
        select count(*) from unseen where not exists (
          select from newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
        )
      ),
      'older', (
        select count(*) from unseen, newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
      ),
      'unseen', (select coalesce(jsonb_agg(to_jsonb(unseen) order by created_at desc, id desc), '[]') from unseen),
      'more', found.next is not null and (oldest is null or case
        when is_oldest_first then list_end < last else list_end > last end)
    )
  );
end
$$;

revoke all on function private.list_changes(jsonb, jsonb, jsonb, boolean, uuid) from public, anon, authenticated;

-- The count of each status, up to a thousand. The newest thousand applications that pass the filter are also counted by day
-- in the given time zone, and by the form answers to the two choices. `more`: there are more than were counted. With a
-- filter by RSVP, only `accepted` and `all` are counted: no other list of the desk has this filter.
create function private.overview(filter jsonb, zone text, blind boolean, account uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  sample record := private.find(filter - 'order', null, 1000, 1000, blind, account);
  in_any_status record := sample;
  statuses constant text[] := array['new', 'shortlisted', 'accepted', 'waitlisted', 'declined', 'aside'];
  counts jsonb := jsonb_build_object();
  each_status text;
  counted integer;
  decided integer := 0;
  aside_count integer;
  new_ones record;
  put_aside record;
begin
  if filter - '{status,order,answer}'::text[] <> '{}' then
    if filter ?| '{status,answer}'::text[] then
      in_any_status := private.find(filter - '{status,order,answer}'::text[], null, 1000, 1000, blind, account);
    end if;
    select jsonb_object_agg(name, jsonb_build_object('count', coalesce(count, 0), 'more', in_any_status.next is not null))
      into counts
      from unnest(statuses || 'all'::text) as name left join (
        select coalesce(status, 'new') as name, count(*)
          from unnest(in_any_status.ids) as hit (id) left join private.statuses on application_id = id group by 1
        union all select 'all', cardinality(in_any_status.ids)
      ) as counted using (name);
    if exists (select from private.statuses where status = 'aside') then
      put_aside := private.find(
        filter - '{order,answer}'::text[] || '{"status": "aside"}', null, 1000, 1000, blind, account);
      counts := counts || jsonb_build_object('aside', jsonb_build_object(
        'count', cardinality(put_aside.ids), 'more', put_aside.next is not null));
    end if;
  else
    foreach each_status in array statuses[2:] loop
      select count(*) into counted
        from (select from private.statuses where status = each_status limit 20001) as having_it;
      decided := decided + counted;
      -- The last is `aside`, which counts nowhere else.
      aside_count := counted;
      counts := counts || jsonb_build_object(each_status, private.up_to_thousand(counted));
    end loop;
    select count(*) into counted
      from (select from public.retreat_applications limit decided + 1001) as application;
    counts := counts || jsonb_build_object('all', private.up_to_thousand(counted - aside_count));
    if decided <= 20000 then
      counts := counts || jsonb_build_object('new', private.up_to_thousand(counted - decided));
    else
      -- There are too many decisions to count. So new applications are searched: at least this many are new.
      new_ones := private.find('{"status": "new"}', null, 1000, 1000, blind, account);
      counts := counts || jsonb_build_object('new', jsonb_build_object(
        'count', cardinality(new_ones.ids), 'more', new_ones.next is not null));
    end if;
  end if;
  if filter ->> 'answer' is not null then
    select counts || jsonb_object_agg(name, jsonb_build_object(
        'count', cardinality(sample.ids), 'more', sample.next is not null))
      into counts from unnest('{accepted,all}'::text[]) as name;
  end if;
  return (
    with hit as materialized (
      select (created_at at time zone zone)::date as day, team_size, paid_solution
      from public.retreat_applications where id = any (sample.ids)
    )
    select jsonb_build_object(
      'counts', counts,
      'count', cardinality(sample.ids),
      'more', sample.next is not null,
      'days', (select coalesce(jsonb_object_agg(day, count), '{}')
        from (select day, count(*) from hit group by day) as of_day),
      'team_size', (select coalesce(jsonb_object_agg(team_size, count), '{}')
        from (select team_size, count(*) from hit group by team_size) as of_size),
      'paid_solution', (select coalesce(jsonb_object_agg(paid_solution, count), '{}')
        from (select paid_solution, count(*) from hit group by paid_solution) as of_solution)
    )
  );
end
$$;

revoke all on function private.overview(jsonb, text, boolean, uuid) from public, anon, authenticated;

-- The counts (`overview`) and the changes of the shown list, in one snapshot.
create function public.desk_refresh(filter jsonb, zone text, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('overview', private.overview(filter, zone, me.blind, me.id),
    'changes', private.list_changes(filter, shown, oldest, me.blind, me.id) - 'unseen');
end
$$;

revoke all on function public.desk_refresh(jsonb, text, jsonb, jsonb) from public, anon, authenticated;
grant execute on function public.desk_refresh(jsonb, text, jsonb, jsonb) to authenticated;

-- These two are for desks that were opened before an update.
create or replace function public.desk_overview(filter jsonb default '{}', zone text default 'UTC') returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.overview(filter, zone, me.blind, me.id);
end
$$;

create or replace function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.list_changes(filter, shown, oldest, me.blind, me.id);
end
$$;

-- Up to 1,000 applications that pass a filter, with the data needed to act on all of them, and the cursor for the next call.
create or replace function public.desk_select(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind, me.id);
begin
  return jsonb_build_object('next', found.next, 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'status', coalesce(standing.status, 'new'), 'version', coalesce(standing.version, 0))
        || case when me.blind then '{}' else jsonb_build_object(
          'first_name', left(first_name, 200), 'last_name', left(last_name, 200)) end
      order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      left join private.statuses as standing on application_id = id
  ));
end
$$;

-- One application with everything that is known about it. Blind readers get the details of some kinds of events only; of the
-- others they see only the kind, the author and the time.
create function private.application_details(application uuid, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  application_row public.retreat_applications;
begin
  select * into application_row from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object(
    'application', (
      select private.form_answers(application_row, blind) || summary from private.summaries(array[application], blind)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind,
        'detail', case
          when not blind or kind in ('status', 'note', 'revealed', 'told', 'answer', 'kept', 'link') then detail
          else '{}' end) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', done_at, 'attempts', attempts, 'last_status', reply_status,
        'next_attempt_at', due_at)
      from private.deliveries where id = application
    ),
    'others', case when blind then '[]' else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'company', left(company, 200), 'status', status)), '[]')
      from (
        select id, other.created_at, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where private.person(email) = private.person(application_row.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

revoke all on function private.application_details(uuid, boolean) from public, anon, authenticated;

drop function private.stamp(uuid);

-- A stamp that changes when anything that is known about an application changes. It reveals no text.
create function private.stamp(application uuid, account uuid) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return md5(jsonb_build_array(
    (select version from private.statuses where application_id = application),
    -- Not the RSVP's state, which also depends on today's date.
    (
      select jsonb_build_array(is_accepted, told_at, deadline, rsvp, rsvp_at)
      from private.invitations where application_id = application
    ),
    -- Rows of the history are only added.
    (select count(*) from private.history where application_id = application),
    private.marks_shown(application, account),
    (
      select jsonb_agg(jsonb_build_array(id, state, version) order by id)
      from private.letters where application_id = application
    ),
    (
      select jsonb_agg(jsonb_build_array(id, state, attempts, due_at, by, recalled_at) order by id)
      from private.deliveries
      where application in (id, application_id) and kind in ('application', 'letter', 'decision', 'receipt')
    )
  )::text);
end
$$;

revoke all on function private.stamp(uuid, uuid) from public, anon, authenticated;

-- One application with everything that is known about it, its letters, the state of all letters, and its position in the list of
-- a filter, if one is given.
create or replace function public.desk_application(application uuid, filter jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.application_details(application, me.blind) || jsonb_build_object(
    'letters', private.letters_of(array[application], me.blind),
    'overview', private.letters_overview(),
    'marks', private.marks_shown(application, me.id),
    'stamp', private.stamp(application, me.id),
    'place', case when filter is not null then private.list_position(application, filter, me.blind, me.id) end
  );
end
$$;

-- Only the stamp, for a desk that shows an application and polls for changes.
create or replace function public.desk_stamp(application uuid) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object('stamp', private.stamp(application, me.id));
end
$$;

-- One application with everything that blind reading hides. The history records who revealed it.
create or replace function public.desk_reveal(act uuid, application uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind and private.begin_act(act, 'desk_reveal', application::text) then
    perform private.write_down(application, act, me.email, 'revealed', '{}');
  end if;
  return private.application_details(application, false);
end
$$;

create or replace function private.remember_erasures() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.erasures (digest)
    select encode(sha256(convert_to(id::text, 'UTF8')), 'hex') from erased on conflict do nothing;
  -- Remove them from the results of acts.
  update private.acts set result = (
      select coalesce(jsonb_agg(entry order by position), '[]')
      from jsonb_array_elements(result) with ordinality as of_act (entry, position)
      where not exists (select from erased where id::text in (entry ->> 'id', entry ->> 'application'))
    )
    where jsonb_typeof(result) = 'array';
  return null;
end
$$;

-- Permanently erases applications of one email, with everything that is known about them. The history records only who
-- erased how many.
create or replace function public.desk_erase(applications uuid[], email text, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  erased integer;
begin
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_erase', applications::text, email) then
    return (select result from private.acts where acts.act = desk_erase.act);
  end if;
  -- Locked in the same order as for decisions, to avoid a deadlock.
  perform from public.retreat_applications where id = any (applications) order by id for update;
  if exists (
    select from public.retreat_applications as application
    where id = any (applications)
      and private.person(application.email) is distinct from private.person(desk_erase.email)
  ) then
    raise exception 'This is not the email of this application. Nothing was erased.' using errcode = '22023';
  end if;
  delete from public.retreat_applications as application
    where id = any (applications) and private.person(application.email) = private.person(desk_erase.email);
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (act, author, kind, detail)
      values (desk_erase.act, me.email, 'erased', jsonb_build_object('applications', erased));
  end if;
  return private.end_act(act, jsonb_build_object('erased', erased));
end
$$;

-- Refuses an application while the door is closed, with the organisers' sentence. It runs after the insert, so that the index
-- refuses a repeat first: a repeat is a success even when the door is closed.
create or replace function private.refuse_when_closed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  door private.door;
begin
  -- Held until the application is stored: `hold_applying` waits for this lock before a limit is set.
  perform pg_advisory_xact_lock_shared(5610746);
  select * into door from private.door;
  if not door.closed and door.closes_after is not null then
    -- Concurrent applicants wait for each other only while a limit is set.
    select * into door from private.door for update;
    if not door.closed and door.received < door.closes_after then
      update private.door set received = received + 1;
      door.closes_after := null;
    end if;
  end if;
  if door.closed or now() >= door.closes_at or door.closes_after is not null then
    raise exception using errcode = 'PT403', message = coalesce(nullif(door.sentence, ''), 'Applications are closed.');
  end if;
  return null;
end
$$;

-- Opens or closes the door. The command `door` calls this without a version (`seen`), so that no version is compared.
create or replace function private.set_door(
  author text, seen integer, closed boolean, sentence text, closes_at timestamptz, closes_after integer
) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  former private.door;
  state jsonb;
  opens boolean;
begin
  if char_length(sentence) > 300 then
    raise exception 'The sentence has at most 300 characters.' using errcode = '22023';
  elsif closes_after <= 0 then
    raise exception 'The number of applications is at least 1.' using errcode = '22023';
  end if;
  -- Concurrent inserts are either counted below or count themselves. This lock precedes the row's, as in inserts.
  if closes_after is not null then perform private.hold_applying(); end if;
  select * into former from private.door for update;
  state := private.door_state();
  if (state ->> 'version')::integer <> seen then
    -- A retry whose first response was lost.
    if former.version = seen + 1 and former.closed = set_door.closed and former.sentence = coalesce(set_door.sentence, '')
      and former.closes_at is not distinct from set_door.closes_at
      and former.closes_after is not distinct from set_door.closes_after
    then
      return state;
    end if;
    raise exception 'The door has changed meanwhile.' using errcode = 'PT409';
  elsif set_door.closes_at is distinct from former.closes_at then
    if set_door.closes_at <= now() then
      raise exception 'The closing time is in the past.' using errcode = '22023';
    elsif set_door.closes_at > '9999-12-31 23:59:59+00' then
      raise exception 'The closing time must be before the year 10000.' using errcode = '22023';
    end if;
  end if;
  -- A new sentence alone does not open a door that closed automatically.
  opens := not set_door.closed and not (state ->> 'is_open')::boolean and (
    former.closed or set_door.closes_at is distinct from former.closes_at
    or set_door.closes_after is distinct from former.closes_after
  );
  update private.door set
    version = (state ->> 'version')::integer + 1, closed = set_door.closed, sentence = coalesce(set_door.sentence, ''),
    closes_at = set_door.closes_at, closes_after = set_door.closes_after,
    opened_at = case when opens then now() else former.opened_at end;
  if closes_after is not null then
    update private.door set received = (
      select count(*) from (
        select from public.retreat_applications where created_at >= opened_at and not exists (
          select from private.statuses where application_id = id and status = 'aside'
        ) limit set_door.closes_after
      ) as since_opening
    );
  end if;
  insert into private.history (author, kind, detail)
    values (set_door.author, 'door', private.door_state() - '{version,received}'::text[]);
  return private.door_state();
end
$$;

create or replace function public.desk_set_door(
  version integer, closed boolean, sentence text default '', closes_at timestamptz default null,
  closes_after integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if closed is null then
    raise exception 'The door is open or closed.' using errcode = '22023';
  end if;
  -- A call without a version is refused: -1 never matches.
  return private.set_door(me.email, coalesce(version, -1), closed, sentence, closes_at, closes_after);
end
$$;

-- Fills in a text in one pass, so that an applicant's words are never read as a placeholder. It reports placeholders whose
-- form answer is blank (`missing`), which stay in the text, and placeholders that do not exist (`unknown`), including stray
-- braces. A text of more than `most` characters is cut and reported as too long (`is_long`): a template may quote a long
-- answer many times.
create or replace function private.fill(
  given text, answers jsonb, most integer default 20000,
  out filled text, out missing text[], out unknown text[], out is_long boolean
)
  language plpgsql immutable set search_path = ''
as $$
declare
  parts text[] := regexp_split_to_array(given, '\{\{[^{}]*\}\}');
  names text[] := array(
    select btrim(match[1]) from regexp_matches(given, '\{\{([^{}]*)\}\}', 'g') with ordinality as each_one (match, position)
    order by position
  );
begin
  filled := parts[1];
  missing := '{}';
  unknown := case
    when given ~ '\{\{\{|\}\}\}' or array_to_string(parts, ' ') ~ '\{\{|\}\}' then array['{{'] else '{}'
  end;
  for position in 1 .. cardinality(names) loop
    if not answers ? names[position] then
      unknown := unknown || left(names[position], 100);
    elsif answers ->> names[position] = '' then
      missing := missing || names[position];
    end if;
    -- Append nothing to a text that is cut anyway.
    if char_length(filled) <= most then
      filled := filled || coalesce(
        case answers ->> names[position] when '' then '{{' || names[position] || '}}' else answers ->> names[position] end, ''
      ) || parts[position + 1];
    end if;
  end loop;
  is_long := char_length(filled) > most;
  filled := left(filled, most);
  missing := array(select distinct name from unnest(missing) as name order by name);
  unknown := array(select distinct name from unnest(unknown) as name order by name);
end
$$;

-- Subject and body for one application. The RSVP link and the deadline stay placeholders.
create or replace function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean, place jsonb default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(application, blind) || coalesce(place, private.invitation_placeholders(application.id));
  filled_subject record := private.fill(subject, answers, 1000);
  filled_body record := private.fill(body, answers);
  -- A subject is one line, regardless of what an applicant wrote.
  subject_line text := btrim(regexp_replace(filled_subject.filled, '[[:cntrl:][:space:]\u0085\u2028\u2029]+', ' ', 'g'));
begin
  return jsonb_build_object(
    'subject', subject_line, 'body', filled_body.filled,
    'is_long', filled_subject.is_long or filled_body.is_long,
    'missing', (select to_jsonb(array(select distinct unnest(filled_subject.missing || filled_body.missing) order by 1))),
    'unknown', (select to_jsonb(array(select distinct unnest(filled_subject.unknown || filled_body.unknown) order by 1)))
  );
end
$$;

-- A text filled in for an application, by default the newest; null if there is none. Its RSVP link is only an example.
-- `site`: the desk's address, used if no server has stored the site's. `has_no_site`: the address is unknown, so the link is
-- left out.
create or replace function private.example(
  occasion text, subject text, body text, application uuid, blind boolean, site text default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  application_row public.retreat_applications;
  example_invitation record;
  letter jsonb;
begin
  if char_length(subject) > 200 or char_length(body) > 20000 then
    raise exception 'A letter has at most 20,000 characters, and its subject 200.' using errcode = '22023';
  end if;
  if application is null then
    select * into application_row from public.retreat_applications order by created_at desc, id desc limit 1;
  else
    select * into application_row from public.retreat_applications where id = application;
  end if;
  if application_row.id is null then return null; end if;
  if occasion = 'received' then
    letter := '{"is_long": false}'
      || private.receipt(subject, body, case when blind then '(hidden)' else application_row.first_name end);
  else
    letter := private.filled(subject, body, application_row, blind, case when private.may_ask(occasion)
      then jsonb_build_object('answer_link', '{{answer_link}}', 'reply_by', '{{reply_by}}') end);
    select coalesce(nullif(places.site, ''), nullif(example.site, '')) || '/answer/#example' as link,
        private.today() + days as day
      into example_invitation from private.places;
    letter := letter || jsonb_build_object(
      'subject', private.with_invitation(letter ->> 'subject', coalesce(example_invitation.link, ''), example_invitation.day),
      'body', private.with_invitation(letter ->> 'body', example_invitation.link, example_invitation.day),
      'has_no_site', example_invitation.link is null and private.has_link(body));
  end if;
  return letter || jsonb_build_object('application', application_row.id, 'name', case when not blind then
    btrim(left(application_row.first_name, 200) || ' ' || left(application_row.last_name, 200)) end);
end
$$;

-- Refuses an invalid template.
create or replace function private.check_template(occasion text, subject text, body text) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(null::public.retreat_applications, false);
  unknown text;
begin
  perform private.check_text(subject, body);
  if occasion = 'received' then answers := '{"first_name": ""}'; end if;
  if private.may_ask(occasion) then answers := answers || '{"answer_link": "", "reply_by": ""}'; end if;
  select min(name) into unknown
    from unnest((private.fill(subject, answers)).unknown || (private.fill(body, answers)).unknown) as name;
  if unknown is not null then
    raise exception 'There is no placeholder %.', case unknown when '{{' then 'that begins or ends like this: {{ }}'
      else '{{' || unknown || '}}' || case
        when occasion = 'received' then ' in a receipt'
        when unknown in ('answer_link', 'reply_by') then ' in a letter to somebody who is not accepted'
        else '' end end
      using errcode = '22023';
  end if;
end
$$;

-- A template as organisers see it.
create function private.template_shown(template private.templates) returns jsonb
  language sql immutable set search_path = ''
as $$
  select jsonb_build_object('occasion', template.name, 'version', template.version, 'subject', template.subject,
    'body', template.body)
$$;

revoke all on function private.template_shown(private.templates) from public, anon, authenticated;

-- Changes a template, or creates one with a new name (version null). Drafts that nobody edited change with it.
create or replace function public.desk_set_template(occasion text, version integer, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  saved private.templates;
begin
  if coalesce(occasion, '') !~ '^[^[:cntrl:]]{1,60}$' or occasion <> btrim(occasion) then
    raise exception 'A template has a name of 1 to 60 characters.' using errcode = '22023';
  end if;
  perform private.check_template(occasion, subject, body);
  if version is null then
    insert into private.templates as template (name, subject, body)
      values (occasion, desk_set_template.subject, desk_set_template.body)
      on conflict do nothing returning * into saved;
  else
    update private.templates as template
      set subject = desk_set_template.subject, body = desk_set_template.body, version = template.version + 1
      where name = occasion and template.version = desk_set_template.version
      returning * into saved;
  end if;
  if saved.name is null then
    -- A repeat whose response was lost.
    select * into saved from private.templates as template
      where name = occasion and template.version = coalesce(desk_set_template.version + 1, 0)
        and template.subject = desk_set_template.subject and template.body = desk_set_template.body;
    if not found then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return private.template_shown(saved);
  end if;
  perform private.write_down_letters(me.email, jsonb_build_object('template', occasion));
  return private.template_shown(saved);
end
$$;

-- Removes a template that organisers created, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
begin
  if exists (select from private.templates where name = occasion and kind <> 'other') then
    raise exception 'The templates of the receipt, the decisions and the reminder stay.' using errcode = '22023';
  end if;
  delete from private.templates as template
    where name = occasion and template.version = desk_remove_template.version;
  if not found then
    if exists (select from private.templates where name = occasion) then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return jsonb_build_object('removed', false);
  end if;
  drafts := array(select id from private.letters where coalesce(template, '') = occasion and state = 'draft');
  perform private.lock_letters(drafts);
  update private.letters set state = 'dropped' where id = any (drafts) and state = 'draft';
  perform private.write_down_letters(me.email, jsonb_build_object('removed', occasion));
  return jsonb_build_object('removed', true);
end
$$;

-- The address of letters to an applicant: the one that they gave, or the organisers' replacement.
create or replace function private.address_of(application uuid, given text) returns text
  language sql stable set search_path = ''
  begin atomic
    select coalesce((select address from private.addresses where application_id = application), given);
  end;

drop function private.lock_letters(uuid[]);

-- Locks letters and their templates, which cannot be removed meanwhile. Takes ids of letters and of deliveries. For a
-- receipt, which has no letter, it locks the application.
create function private.lock_letters(given uuid[]) returns void
  language plpgsql set search_path = ''
as $$
declare
  wanted constant uuid[] := given || array(
    select letter_id from private.deliveries where id = any (given) and letter_id is not null
  );
begin
  perform from private.templates
    where name in (select template from private.letters where id = any (wanted))
    order by name for key share;
  perform private.lock_for_letters(array(
    select application_id from private.letters where id = any (wanted)
    union select application_id from private.deliveries where id = any (given)
  ));
  perform from private.letters where id = any (wanted) order by id for update;
end
$$;

revoke all on function private.lock_letters(uuid[]) from public, anon, authenticated;

-- Whether a delivery informs the applicant: an email, or a decision that replaces the email. `has_told`: whether it arrived,
-- or may have arrived.
create function private.is_main(delivery private.deliveries) returns boolean
  language sql immutable
as $$
  select delivery.kind in ('letter', 'decision') and not delivery.is_beside
$$;

revoke all on function private.is_main(private.deliveries) from public, anon, authenticated;

create function private.has_told(delivery private.deliveries) returns boolean
  language sql immutable
as $$
  select delivery.kind in ('letter', 'decision') and not delivery.is_beside
    and (delivery.state = 'done' or delivery.may_have_arrived > 0)
$$;

revoke all on function private.has_told(private.deliveries) from public, anon, authenticated;

-- Whether the first of two deliveries precedes the second. Both are RSVPs or both are decisions, of one applicant.
create function private.is_before(earlier private.deliveries, later private.deliveries) returns boolean
  language sql immutable
as $$
  select case when earlier.event_id is not null then earlier.event_id < later.event_id
    else (earlier.queued_at, earlier.id) < (later.queued_at, later.id) end
$$;

revoke all on function private.is_before(private.deliveries, private.deliveries) from public, anon, authenticated;

-- Claims one delivery, whose row the caller has locked, for the duration of the lease. If another server's try has not
-- ended, it may have arrived.
create function private.claim_one(delivery uuid, lease interval) returns private.deliveries
  language sql set search_path = ''
as $$
  update private.deliveries set state = 'sending', attempts = attempts + 1, tried_at = now(), due_at = now() + lease,
      may_have_arrived = may_have_arrived + (state = 'sending')::integer
    where id = delivery returning *
$$;

revoke all on function private.claim_one(uuid, interval) from public, anon, authenticated;

-- Claims due deliveries to a webhook, the longest waiting first, each for one server and the duration of the lease.
-- Deliveries about one person stay in order. Deliveries that are due later than any retry are due now: the clock was set
-- back.
create function private.claim_delivery(kind text, most integer, lease interval) returns setof private.deliveries
  language plpgsql set search_path = ''
as $$
declare
  moments record;
begin
  if kind = 'decision' and (select stopped from private.postman) then return; end if;
  for moments in select * from private.due_moments() loop
    return query
      with due as (
        select id from private.deliveries as delivery
        where delivery.kind = claim_delivery.kind and due_at >= moments.since and due_at <= moments.until
          and recalled_at is null
          -- The `or` keeps `not exists` from becoming a join, for which PostgreSQL may read all deliveries.
          and (delivery.kind = 'application' or not exists (
            select from private.deliveries as earlier
            where earlier.application_id = delivery.application_id and earlier.kind = delivery.kind
              and private.is_before(earlier, delivery) and earlier.state in ('waiting', 'sending')
          ))
        order by due_at limit most for update skip locked
      )
      select claimed.* from due, private.claim_one(due.id, lease) as claimed;
    exit when found;
  end loop;
end
$$;

revoke all on function private.claim_delivery(text, integer, interval) from public, anon, authenticated;

-- The values of `due_at` that are due: the past, and times later than any retry, which waits a day and some jitter at most.
create function private.due_moments() returns table (since timestamptz, until timestamptz)
  language sql stable
as $$
  values ('-infinity'::timestamptz, now()), (now() + interval '27 hours', 'infinity'::timestamptz)
$$;

revoke all on function private.due_moments() from public, anon, authenticated;

-- Records the result of a claim: `done`, `failed`, or `waiting` for another try after a pause. `counts`: the try is one of
-- the schedule's. Without a reply, the former reply is unchanged. `is_uncertain`: it may have arrived. `is_closing`: the
-- mail server closed the connection. `refused`: the receiver refused it permanently. Returns the new state, which is
-- `cancelled` if it was recalled during the try. Returns null if this claim is no longer the current one.
create function private.record_delivery(
  delivery uuid, attempt integer, state text, pause interval default '0', counts boolean default true,
  reply_status integer default null, reply text default null, is_uncertain boolean default false, is_closing boolean default false,
  refused boolean default false
) returns text
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  is_recalled boolean;
  recorded private.deliveries;
begin
  loop
    select * into claimed from private.deliveries where id = delivery and attempts = attempt and deliveries.state = 'sending';
    if not found then return null; end if;
    is_recalled := claimed.recalled_at is not null;
    -- Locked before the delivery's row, as in the order of locks.
    if is_recalled then perform private.lock_letters(array[delivery]); end if;
    perform from private.deliveries
      where id = delivery and attempts = attempt and deliveries.state = 'sending' and (recalled_at is not null) = is_recalled
      for update;
    -- Repeat if the recall changed between the two statements.
    exit when found;
  end loop;
  -- Locks the postman's row before invitations, as a claim does.
  if record_delivery.state = 'done' and claimed.kind in ('letter', 'receipt', 'notice', 'test') then
    perform private.clear_mail_problem();
  end if;
  update private.deliveries as row set
      state = case when is_recalled and record_delivery.state <> 'done' then 'cancelled' else record_delivery.state end,
      due_at = case when record_delivery.state = 'waiting' and not is_recalled then now() + pause end,
      done_at = case when record_delivery.state = 'done' then now() end,
      attempts = attempts - (not counts)::integer,
      -- Without a counted try, there is no time of a try.
      tried_at = case when counts or attempts > 1 then tried_at end,
      reply_status = case when record_delivery.reply is null then row.reply_status else record_delivery.reply_status end,
      reply = coalesce(record_delivery.reply, row.reply),
      is_refused = refused,
      may_have_arrived = may_have_arrived + is_uncertain::integer,
      closings = closings + is_closing::integer,
      subject = case when kind <> 'test' or record_delivery.state = 'waiting' then subject end,
      body = case when kind <> 'test' or record_delivery.state = 'waiting' then body end
    where id = delivery returning * into recorded;
  if recorded.state = 'done' and recorded.kind in ('rsvp', 'decision') then
    -- Otherwise a retry would deliver an older RSVP or decision after a newer one.
    update private.deliveries as earlier set state = 'cancelled', due_at = null
      where earlier.application_id = recorded.application_id and earlier.kind = recorded.kind
        and private.is_before(earlier, recorded) and earlier.state not in ('done', 'cancelled');
  end if;
  if is_recalled and recorded.letter_id is not null then
    perform private.settle_recalled(recorded);
  end if;
  return recorded.state;
end
$$;

revoke all on function private.record_delivery(uuid, integer, text, interval, boolean, integer, text, boolean, boolean, boolean) from public, anon, authenticated;

-- Cancels deliveries that wait or failed, and recalls those that are being sent. A server may claim a delivery or give it
-- back at any moment, so one statement reads and updates the locked row.
create function private.recall(wanted uuid[], author text default null) returns void
  language sql set search_path = ''
as $$
  update private.deliveries set
      state = case state when 'sending' then state else 'cancelled' end, due_at = case state when 'sending' then due_at end,
      recalled_at = coalesce(recalled_at, now()), recalled_by = recall.author
    where id = any (wanted) and state in ('waiting', 'sending', 'failed')
$$;

revoke all on function private.recall(uuid[], text) from public, anon, authenticated;

-- Makes these failed deliveries due, restarts their schedule, and counts them.
create function private.retry_failed(wanted uuid[]) returns integer
  language sql set search_path = ''
as $$
  with retried as (
    update private.deliveries set state = 'waiting', attempts = 0, due_at = now(), reply = '', is_refused = false
      where id = any (wanted) and state = 'failed' returning true
  )
  select count(*)::integer from retried
$$;

revoke all on function private.retry_failed(uuid[]) from public, anon, authenticated;

-- Makes failed deliveries of a kind due, restarts their schedule, and counts them. Skips a delivery if a later one of the
-- same applicant is pending.
create function private.retry_deliveries(kind text) returns integer
  language plpgsql set search_path = ''
as $$
declare
  retried integer;
begin
  update private.deliveries as delivery set state = 'waiting', attempts = 0, due_at = now()
    where delivery.kind = retry_deliveries.kind and state = 'failed' and not exists (
      select from private.deliveries as later
      where later.application_id = delivery.application_id and later.kind = delivery.kind
        and private.is_before(delivery, later)
        and later.state in ('waiting', 'sending')
    );
  get diagnostics retried = row_count;
  return retried;
end
$$;

revoke all on function private.retry_deliveries(text) from public, anon, authenticated;

-- Whether a letter is pending or has failed. While it is, its template is not drafted again.
create function private.is_undelivered(letter uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.deliveries as delivery
    where letter_id = letter and private.is_main(delivery) and state in ('waiting', 'sending', 'failed')
  )
$$;

revoke all on function private.is_undelivered(uuid) from public, anon, authenticated;

-- How often a letter arrived, or may have arrived.
create function private.times_told(letter uuid) returns bigint
  language sql stable set search_path = ''
as $$
  select count(*) from private.deliveries as delivery where letter_id = letter and private.has_told(delivery)
$$;

revoke all on function private.times_told(uuid) from public, anon, authenticated;

-- The last decision that an applicant was told of; null if there is none.
create function private.decision_told(application uuid) returns text
  language sql stable set search_path = ''
as $$
  select template
  from private.deliveries as delivery join private.letters on letters.id = letter_id
  where delivery.application_id = application and private.has_told(delivery) and private.is_decision(template)
  order by coalesce(done_at, recalled_at, queued_at) desc limit 1
$$;

revoke all on function private.decision_told(uuid) from public, anon, authenticated;

-- Creates the draft of a template, unless there is one, or its letter is pending or has failed. Skips a letter that the
-- applicant already got, unless `again` is set or they were told of another decision since. A dropped letter becomes a draft
-- with its former text.
create function private.draft_from_template(application uuid, template text, again boolean default false) returns uuid
  language plpgsql set search_path = ''
as $$
declare
  letter private.letters;
  drafted uuid;
begin
  select * into letter from private.letters
    where application_id = application and letters.template = draft_from_template.template;
  if letter.state = 'draft' or private.is_undelivered(letter.id)
    or template = 'reminder' and exists (
      select from private.invitations where application_id = application and private.is_reminder_recent(reminded_at)
    )
    or not again and private.times_told(letter.id) > 0
      and (not private.is_decision(template) or private.decision_told(application) = template)
  then
    return null;
  elsif letter.id is null then
    insert into private.letters (application_id, template) values (application, draft_from_template.template)
      on conflict do nothing returning id into drafted;
  else
    -- A letter that was sent restarts with its template's text.
    update private.letters set state = 'draft', drafted_at = now(), version = version + 1,
        subject = case when state = 'dropped' then subject end, body = case when state = 'dropped' then body end
      where id = letter.id returning id into drafted;
  end if;
  return drafted;
end
$$;

revoke all on function private.draft_from_template(uuid, text, boolean) from public, anon, authenticated;

-- Whether a template may still be sent to an applicant. It has to exist. A decision has to be the current one. A reminder is
-- only for people without an RSVP.
create function private.may_be_said(application uuid, template text) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (select from private.templates where name = may_be_said.template)
    and (not private.is_decision(template) or exists (
      select from private.statuses where application_id = application and status = may_be_said.template
    ))
    and (template <> 'reminder' or not exists (
      select from private.invitations where application_id = application and rsvp is not null
    ));
end
$$;

revoke all on function private.may_be_said(uuid, text) from public, anon, authenticated;

-- Drops an application's letters that have not arrived, of one template or of all, and recalls pending ones. A letter to one
-- person, whose text exists only once, becomes or stays a draft. The caller has locked the application.
create function private.drop_letters(application uuid, template text default null) returns void
  language plpgsql set search_path = ''
as $$
declare
  to_recall uuid[] := array(
    select delivery.id from private.deliveries as delivery join private.letters on letters.id = letter_id
    where delivery.application_id = application and private.is_main(delivery)
      and delivery.state in ('waiting', 'sending', 'failed')
      and (drop_letters.template is null or letters.template = drop_letters.template)
  );
begin
  perform private.recall(to_recall);
  update private.letters as letter set state = case when letter.template is null then 'draft' else 'dropped' end,
      drafted_at = case when state = 'draft' then drafted_at else now() end
    where application_id = application and (drop_letters.template is null or letter.template = drop_letters.template)
      and (state = 'draft' or state = 'released' and not private.is_undelivered(id) and (
        private.times_told(id) = 0
        -- A letter written for one person, without a template, becomes a draft even if it may have arrived.
        or letter.template is null and id in (select letter_id from private.deliveries where deliveries.id = any (to_recall))
      ));
end
$$;

revoke all on function private.drop_letters(uuid, text) from public, anon, authenticated;

-- Drops the letters that have not arrived, then drafts the one for the new decision. Runs after the first decision, and after
-- each change of a status. A receipt says nothing about decisions, so it is still sent.
create or replace function private.redraft() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.drop_letters(new.application_id);
  if private.is_decision(new.status) then
    perform private.draft_from_template(new.application_id, new.status);
  end if;
  return null;
end
$$;

-- Settles a letter whose delivery was cancelled. A letter to one person becomes a draft again. So does a letter that an
-- organiser stopped, if it may still be sent. The caller has locked the letter.
create function private.settle_letter(delivery private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.letters as letter set drafted_at = now(), state = case
      when template is null then 'draft'
      when delivery.recalled_by is not null and private.may_be_said(application_id, template) then 'draft'
      when private.times_told(id) > 0 then 'released'
      else 'dropped' end
    where id = delivery.letter_id and state = 'released' and not private.is_undelivered(id);
end
$$;

revoke all on function private.settle_letter(private.deliveries) from public, anon, authenticated;

-- Runs after the try of a recalled delivery has ended. Drafts a letter about the current decision if the applicant may have
-- been told of another one, or if the recalled letter was about the current one. The caller has locked the letter.
create function private.settle_recalled(delivery private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
declare
  status_now text := (select status from private.statuses where application_id = delivery.application_id);
  template text := (select letters.template from private.letters where id = delivery.letter_id);
begin
  if delivery.state = 'cancelled' then perform private.settle_letter(delivery); end if;
  if private.is_decision(status_now) and (
    private.is_decision(template) and private.has_told(delivery) or template = status_now
  ) then
    perform private.draft_from_template(delivery.application_id, status_now);
  end if;
end
$$;

revoke all on function private.settle_recalled(private.deliveries) from public, anon, authenticated;

-- Cancels restored deliveries, since the original database may have sent them. Their letters become drafts if they may still be
-- sent, and are dropped otherwise.
create function private.settle_restored() returns void
  language plpgsql set search_path = ''
as $$
declare
  ended private.deliveries;
begin
  for ended in
    update private.deliveries as delivery set state = 'cancelled', due_at = null
      where kind in ('letter', 'decision', 'receipt') and state in ('waiting', 'sending') returning *
  loop
    continue when not private.is_main(ended);
    if ended.recalled_at is not null then
      perform private.settle_recalled(ended);
    else
      update private.letters set drafted_at = now(),
          state = case when template is null or private.may_be_said(application_id, template) then 'draft' else 'dropped' end
        where id = ended.letter_id and state = 'released';
    end if;
  end loop;
  update private.deliveries set recalled_at = now() where kind in ('letter', 'decision', 'receipt')
    and state = 'cancelled' and recalled_at is null;
end
$$;

revoke all on function private.settle_restored() from public, anon, authenticated;

-- A draft as it would be sent. `seen` identifies the text that the organiser read. It is a digest of the template's text,
-- which all organisers may read. For an edited letter, whose text may name somebody, it is the version.
create function private.draft_text(letter private.letters, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  application_row public.retreat_applications;
  template private.templates;
  text jsonb;
begin
  select * into application_row from public.retreat_applications where id = letter.application_id;
  select * into template from private.templates where name = letter.template;
  if letter.subject is null then
    text := private.filled(template.subject, template.body, application_row, blind);
  else
    -- Blind readers do not see the text: it names the applicant.
    text := jsonb_build_object(
      'subject', case when blind then '(hidden)' else letter.subject end,
      'body', case when blind then '(hidden)' else letter.body end,
      'missing', (
        select coalesce(jsonb_agg(name order by name), '[]')
        from jsonb_each_text(private.invitation_placeholders(letter.application_id)) as invitation (name, words)
        where words = '' and case name when 'reply_by' then private.has_deadline(letter.subject || letter.body)
          else private.has_link(letter.subject || letter.body) end
      ),
      'unknown', '[]'::jsonb, 'is_long', false
    );
  end if;
  return text || jsonb_build_object('seen', case
    -- Includes how often it was sent, so that a repeated "sent by hand" is recognised.
    when letter.subject is null then md5(template.subject || E'\n' || template.body)
      || coalesce('-' || nullif(private.times_told(letter.id), 0), '')
    else letter.version::text
  end);
end
$$;

revoke all on function private.draft_text(private.letters, boolean) from public, anon, authenticated;

drop function public.desk_write(uuid[], text, boolean);

-- Drafts letters of a template; with `again`, even if it was sent before. The result has the outcome of each: drafted,
-- written (a draft or a letter exists, in this state), undecided (another decision is current) or gone. Repeating the act
-- drafts none and returns the first result. A desk of version 1.0 sends no id.
create function public.desk_write(applications uuid[], occasion text, again boolean default false, act uuid default null)
  returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid;
  status_now text;
  outcome text;
  outcomes jsonb := jsonb_build_array();
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 letters are drafted at once.' using errcode = '22023';
  elsif (select kind from private.templates where name = occasion) = 'receipt' then
    raise exception 'A receipt is sent automatically, and only to its applicant.' using errcode = '22023';
  end if;
  -- Locked until commit, so that removing the template also removes these drafts.
  perform from private.templates where name = occasion for key share;
  if not found then
    raise exception 'There is no template of this name.' using errcode = '22023';
  end if;
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_write', applications::text, occasion, again::text) then
    return (select result from private.acts where acts.act = desk_write.act);
  end if;
  perform private.lock_for_letters(applications);
  for application in select distinct unnest(applications) as id order by id loop
    perform from public.retreat_applications where id = application;
    outcome := case when not found then 'gone' end;
    if outcome is null then
      select status into status_now from private.statuses where application_id = application;
      outcome := case
        when private.is_decision(occasion) and occasion is distinct from status_now then 'undecided'
        when private.draft_from_template(application, occasion, coalesce(again, false)) is null then 'written'
        else 'drafted'
      end;
    end if;
    outcomes := outcomes || jsonb_build_object('application', application, 'outcome', outcome,
      'state', case outcome when 'written' then coalesce(
        (select state from private.letters where application_id = application and template = occasion and state = 'draft'),
        -- A pending or failed delivery takes precedence over a sent one.
        (
          select state from private.letter_deliveries as delivery
          where application_id = application and delivery.occasion = desk_write.occasion and is_main and state <> 'withdrawn'
          order by state = 'sent' limit 1
        )) end);
  end loop;
  return private.end_act(act, outcomes);
end
$$;

revoke all on function public.desk_write(uuid[], text, boolean, uuid) from public, anon, authenticated;
grant execute on function public.desk_write(uuid[], text, boolean, uuid) to authenticated;

-- Refuses an invalid letter to one person.
create or replace function private.check_letter(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  perform private.check_text(subject, body);
  -- Only the link and the deadline are filled in, at the handover.
  if regexp_replace(subject || body, '\{\{\s*(answer_link|reply_by)\s*\}\}', '', 'g') ~ '\{\{|\}\}' then
    raise exception 'A letter to one person has no placeholders except {{answer_link}} and {{reply_by}}.'
      using errcode = '22023';
  end if;
end
$$;

-- Drafts a letter to one person, without a template. Repeating the act drafts none.
create or replace function public.desk_write_to(act uuid, application uuid, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    raise exception 'Switch blind reading off to write to an applicant.' using errcode = '22023';
  end if;
  perform private.check_letter(subject, body);
  if not private.begin_act(act, 'desk_write_to', application::text, subject, body) then
    return private.drafts_shown(array[act], false) -> 0;
  end if;
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  insert into private.letters (id, application_id, subject, body)
    values (act, application, desk_write_to.subject, desk_write_to.body) on conflict do nothing;
  return private.drafts_shown(array[act], false) -> 0;
end
$$;

-- Changes one draft. A blank subject and body restore its template's text, if it has one. `seen` says which text was read.
create or replace function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
begin
  if me.blind then
    raise exception 'Switch blind reading off to edit a letter.' using errcode = '22023';
  elsif subject <> '' or body <> '' or exists (
    select from private.letters where id = desk_edit.letter and template is null
  ) then
    perform private.check_letter(subject, body);
  end if;
  perform private.lock_letters(array[desk_edit.letter]);
  select * into draft from private.letters where id = desk_edit.letter and state = 'draft';
  if not found then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif private.draft_text(draft, false) ->> 'seen' is distinct from seen then
    -- A repeat whose response was lost.
    if coalesce(draft.subject, '') = desk_edit.subject and coalesce(draft.body, '') = desk_edit.body then
      return private.drafts_shown(array[draft.id], false) -> 0;
    end if;
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set subject = nullif(desk_edit.subject, ''), body = nullif(desk_edit.body, ''),
    version = version + 1
    where id = draft.id;
  return private.drafts_shown(array[draft.id], false) -> 0;
end
$$;

-- Removes drafts. A new decision drafts its letter again. The result counts the removed drafts.
create or replace function public.desk_discard(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  update private.letters set state = 'dropped' where id = any (desk_discard.letters) and state = 'draft';
  return (
    select jsonb_build_object('discarded', count(*)) from private.letters
    where id = any (desk_discard.letters) and state = 'dropped'
  );
end
$$;

-- Refuses an invalid address of a site.
create or replace function private.check_site(site text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(site, '') !~ '^(https?://[^\s<>"\\{}#?]+[^\s<>"\\{}#?/])?$' then
    raise exception 'This is not a site''s address.' using errcode = '22023';
  end if;
end
$$;

-- A draft with its link, for an organiser's own mail program. The history records that the organiser got the link. `site` is
-- used if no server has stored the site's address. Older desks also send the time zone. A letter with a deadline is refused
-- until a time zone is set.
create or replace function public.desk_hand_over(act uuid, letter uuid, seen text, site text default null, zone text default null)
  returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  text jsonb;
  sent record;
begin
  if me.blind then
    raise exception 'Switch blind reading off to send a letter by hand.' using errcode = '22023';
  end if;
  perform private.check_site(site);
  perform private.lock_letters(array[letter]);
  select * into draft from private.letters where id = desk_hand_over.letter;
  text := case when draft.state = 'draft' then private.draft_text(draft, false) end;
  if text is null or text ->> 'seen' is distinct from seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif text -> 'missing' <> '[]' then
    raise exception 'This letter quotes a form answer that is blank.' using errcode = '22023';
  end if;
  if zone is not null then perform private.adopt_zone(zone); end if;
  if (private.has_link(text ->> 'body') or private.has_deadline((text ->> 'subject') || (text ->> 'body')))
    and exists (select from private.places where places.zone is null)
  then
    raise exception 'This letter has a deadline: first save the time zone under Places.' using errcode = '22023';
  end if;
  if private.has_link(text ->> 'body') then
    if private.begin_act(act, 'desk_hand_over', letter::text) then
      perform private.write_down(draft.application_id, act, me.email, 'link',
        jsonb_build_object('occasion', coalesce(draft.template, '')));
    end if;
  end if;
  sent := private.fill_at_handover(draft.application_id, text ->> 'subject', text ->> 'body', site);
  return jsonb_build_object('subject', sent.subject, 'body', sent.body);
end
$$;

-- Queues a released letter, which can be stopped for a minute. `text` is its text.
create function private.queue_letter(letter private.letters, kind text, text jsonb, act uuid, author text) returns uuid
  language sql set search_path = ''
as $$
  insert into private.deliveries (kind, application_id, letter_id, subject, body, act, author, due_at)
    select queue_letter.kind, letter.application_id, letter.id, text ->> 'subject', text ->> 'body', queue_letter.act,
      queue_letter.author, now() + hold
    from private.letter_settings
    returning id
$$;

revoke all on function private.queue_letter(private.letters, text, jsonb, uuid, text) from public, anon, authenticated;

-- Releases drafts, an array of {id, seen}: they are sent after a minute. `seen` identifies the text that the organiser read:
-- a digest of the template's text, or the version of an edited letter (`draft_text`). For more than thirty letters, `number`
-- must equal their count. Letters that were sent before need `again`. Each outcome is released, gone, changed (since it was
-- read), missing (it quotes a blank form answer), long (once filled in), or again (sent before).
-- Without a mail server the decision goes to the automation, which emails the applicant.
create or replace function public.desk_release(
  act uuid, letters jsonb, number integer default null, again boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[] := array(select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one);
  sent record;
  letter private.letters;
  status_now text;
  text jsonb;
  outcome text;
  outcomes jsonb := jsonb_build_array();
  is_postman_there boolean;
  is_automation_there boolean;
begin
  select private.is_recent(seen_at), private.is_recent(automation_seen_at)
    into is_postman_there, is_automation_there from private.postman;
  if cardinality(wanted) > 1000 then
    raise exception 'At most 1,000 letters are released at once.' using errcode = '22023';
  elsif cardinality(wanted) > 30 and number is distinct from cardinality(wanted) then
    raise exception 'The number does not match: these are % letters.', cardinality(wanted) using errcode = '22023';
  elsif not (is_postman_there or is_automation_there) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  elsif not is_postman_there and exists (
    select from private.letters as draft
    where id = any (wanted) and not private.is_decision(coalesce(draft.template, ''))
  ) then
    raise exception 'Only decisions go to the automation, and no server with a mail server is running.'
      using errcode = 'PT409';
  end if;
  if not private.begin_act(act, 'desk_release', letters::text, again::text) then
    return (select result from private.acts where acts.act = desk_release.act);
  end if;
  perform private.lock_letters(wanted);
  for sent in
    select distinct on (draft.application_id, wanted.id) wanted.id, draft.application_id, wanted.seen
    from jsonb_to_recordset(letters) as wanted (id uuid, seen text) left join private.letters as draft using (id)
    order by draft.application_id, wanted.id
  loop
    select status into status_now from private.statuses where application_id = sent.application_id;
    select * into letter from private.letters where id = sent.id;
    -- Filled in once, so that the released text is the checked one. The result does not have this text, so blind readers do
    -- not see it.
    text := case when letter.state = 'draft' then private.draft_text(letter, false) end;
    outcome := case
      when letter.state is distinct from 'draft'
        or private.is_decision(letter.template) and letter.template is distinct from status_now
        then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when not coalesce(again, false) and letter.template is distinct from 'reminder' and private.times_told(letter.id) > 0
        then 'again'
    end;
    if outcome is null then
      update private.letters set state = 'released' where id = letter.id;
      perform private.queue_letter(letter, case when is_postman_there then 'letter' else 'decision' end, text, act, me.email);
      perform private.withdraw_receipt(letter.application_id);
      outcome := 'released';
    end if;
    outcomes := outcomes || jsonb_build_object('id', sent.id, 'application', sent.application_id, 'outcome', outcome);
  end loop;
  return private.end_act(act, outcomes);
end
$$;

-- Stops letters, given by their own ids or by the ids of their deliveries, or all letters of one act. Waiting deliveries are
-- cancelled, and their letters become drafts. A delivery that is being sent is recalled and counts as `left`: if it is not
-- accepted, `record_delivery` cancels it, and its letter is drafted again. The result counts the applications.
create or replace function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[];
  stopped uuid[];
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters || array(select id from private.deliveries where deliveries.act = desk_withdraw.act));
  -- Read after locking. For a letter's id, its latest delivery.
  wanted := array(
    select id from private.deliveries
    where id = any (desk_withdraw.letters) and kind in ('letter', 'decision', 'receipt')
      or deliveries.act = desk_withdraw.act and not is_beside
    union
    select newest.id
    from unnest(desk_withdraw.letters) as letter (id) cross join lateral (
      select id from private.deliveries as delivery
      where letter_id = letter.id and private.is_main(delivery) order by queued_at desc, id limit 1
    ) as newest
  );
  stopped := array(
    select id from private.deliveries where id = any (wanted) and state in ('waiting', 'sending') and recalled_at is null
  );
  perform private.recall(stopped, me.email);
  perform private.settle_letter(delivery) from private.deliveries as delivery
    where id = any (stopped) and state = 'cancelled' and private.is_main(delivery);
  return (
    select jsonb_build_object(
      'withdrawn', count(*) filter (where is_stopped and not has_left), 'left', count(*) filter (where has_left))
    from (
      select bool_or(state = 'cancelled' and recalled_by is not null) as is_stopped,
        bool_or(state in ('sending', 'done')) as has_left
      from private.deliveries where id = any (wanted) group by application_id
    ) as of_application
  );
end
$$;

-- Sends failed deliveries again, except receipts older than a day and letters whose deadline has passed. The result counts
-- those of the given deliveries that are then pending or done.
create function private.retry_letters(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.retry_failed(array(
    select id from private.deliveries as delivery
    where id = any (wanted) and kind in ('letter', 'decision', 'receipt')
      and (kind <> 'receipt' or queued_at > now() - interval '1 day') and not private.is_overdue(delivery)
  ));
  return (select count(*) from private.deliveries where id = any (wanted) and state in ('waiting', 'sending', 'done'));
end
$$;

revoke all on function private.retry_letters(uuid[]) from public, anon, authenticated;

-- `letters` are the ids of deliveries.
create or replace function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  return jsonb_build_object('retried', private.retry_letters(letters));
end
$$;

-- Records that an organiser sent a draft from their own mail program. `seen` is as for `desk_release`.
create or replace function public.desk_sent_by_hand(letter uuid, seen text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  status_now text;
  text jsonb;
  delivery uuid;
begin
  if me.blind then
    raise exception 'Switch blind reading off to send a letter by hand.' using errcode = '22023';
  end if;
  perform private.lock_letters(array[desk_sent_by_hand.letter]);
  select * into draft from private.letters where id = desk_sent_by_hand.letter;
  select id into delivery from private.deliveries
    where letter_id = draft.id and by = 'hand' and author = me.email order by queued_at desc limit 1;
  if draft.state = 'released' and delivery is not null and not private.is_undelivered(draft.id) then
    -- A repeat whose response was lost.
    return private.letter_deliveries_shown(array[delivery], false) -> 0;
  end if;
  select status into status_now from private.statuses where application_id = draft.application_id;
  text := case when draft.state = 'draft' then private.draft_text(draft, false) end;
  if text is null or text ->> 'seen' is distinct from seen
    or (private.is_decision(draft.template) and draft.template is distinct from status_now)
  then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'This letter is too long once filled in.' using errcode = '22023';
  end if;
  update private.letters set state = 'released' where id = draft.id;
  delivery := private.queue_letter(draft, 'letter', text, null, me.email);
  update private.deliveries set state = 'done', done_at = now(), due_at = null, by = 'hand' where id = delivery;
  perform private.withdraw_receipt(draft.application_id);
  return private.letter_deliveries_shown(array[delivery], false) -> 0;
end
$$;

-- Sends a letter that did not arrive again, to another address. All letters to this applicant go there from then on. It can
-- be stopped for a minute, as after its release. `letter` is the id of the failed delivery.
create or replace function public.desk_readdress(act uuid, letter uuid, address text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  failed private.deliveries;
begin
  if me.blind then
    raise exception 'Switch blind reading off to change an address.' using errcode = '22023';
  elsif coalesce(char_length(address), 0) > 254
    or coalesce(address, '') !~ '^[^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+$'
  then
    raise exception 'This is not a single email address.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_readdress', letter::text, address) then
    perform private.lock_letters(array[letter]);
    select * into failed from private.deliveries where id = letter;
    if (failed.kind, failed.state) is distinct from ('letter', 'failed') then
      raise exception 'This letter no longer needs another address.' using errcode = 'PT409';
    end if;
    perform private.write_down(failed.application_id, act, me.email, 'address',
      jsonb_build_object('address', address, 'occasion', (
        select coalesce(template, '') from private.letters where id = failed.letter_id)));
    insert into private.addresses (application_id, address) values (failed.application_id, desk_readdress.address)
      on conflict (application_id) do update set address = excluded.address;
    perform private.retry_failed(array[failed.id]);
    update private.deliveries set due_at = now() + (select hold from private.letter_settings) where id = failed.id;
  end if;
  return private.letter_deliveries_shown(array[letter], false) -> 0;
end
$$;

-- Records that organisers told the applicants of failed letters another way. `letters` are the ids of the failed deliveries.
-- The result counts these deliveries.
create or replace function public.desk_settle(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  with settled as (
    update private.deliveries set state = 'done', done_at = now(), by = 'elsewhere', reply = ''
      where id = any (desk_settle.letters) and kind in ('letter', 'decision', 'receipt') and state = 'failed'
      returning id
  )
  insert into private.history (application_id, author, kind, detail)
    select application_id, me.email, 'told', jsonb_build_object('occasion', occasion, 'way', way)
    from settled join private.letter_deliveries using (id);
  return (
    select jsonb_build_object('settled', count(*)) from private.deliveries
    where id = any (desk_settle.letters) and state = 'done' and by = 'elsewhere'
  );
end
$$;

-- The recipient of a letter, as an organiser may see it.
create function private.addressee(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object('application', application.id,
    'to', case when not blind then private.address_of(application.id, application.email) end,
    'name', case when not blind then
      btrim(left(application.first_name, 200) || ' ' || left(application.last_name, 200)) end)
$$;

revoke all on function private.addressee(retreat_applications, boolean) from public, anon, authenticated;

-- Drafts as an organiser may see them, in the order of `ids`.
create function private.drafts_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.draft_text(letter, blind) || private.addressee(application, blind) || jsonb_build_object(
      'id', letter.id, 'occasion', coalesce(template, ''), 'edition', 1 + private.times_told(letter.id), 'way', 'mail',
      'state', 'draft', 'is_edited', letter.subject is not null, 'author', null, 'act', null, 'released_at', null,
      'due_at', null, 'attempts', 0, 'uncertain', 0, 'sent_at', null, 'withdrawn_at', null, 'withdrawn_by', null,
      'answer', '', 'otherwise', null
    ) order by position), '[]')
  from unnest(ids) with ordinality as shown (id, position)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

revoke all on function private.drafts_shown(uuid[], boolean) from public, anon, authenticated;

-- Deliveries as an organiser may see them, in the order of `ids`. Blind readers do not see the text: it names the applicant.
create function private.letter_deliveries_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.addressee(application, blind) || jsonb_build_object(
      'subject', case when blind then '(hidden)' else subject end, 'body', case when blind then '(hidden)' else body end,
      'seen', '', 'missing', '[]'::jsonb, 'unknown', '[]'::jsonb, 'is_long', false, 'is_edited', false,
      'id', delivery.id, 'occasion', occasion, 'edition', 1 + (
        select count(*) from private.deliveries as earlier
        where earlier.letter_id = delivery.letter_id and earlier.queued_at < delivery.queued_at and private.has_told(earlier)
          and earlier.act is distinct from delivery.act
      ), 'way', way, 'state', state, 'author', author, 'act', act, 'released_at', queued_at, 'due_at', due_at,
      'attempts', attempts, 'uncertain', may_have_arrived, 'sent_at', done_at, 'withdrawn_at', recalled_at,
      'withdrawn_by', recalled_by, 'answer', case when not blind then reply else '' end, 'otherwise', otherwise
    ) order by position), '[]')
  from unnest(ids) with ordinality as shown (id, position)
    join private.letter_deliveries as delivery using (id)
    join public.retreat_applications as application on application.id = delivery.application_id
$$;

revoke all on function private.letter_deliveries_shown(uuid[], boolean) from public, anon, authenticated;

-- The letters of some applications, the oldest first, and then their drafts.
create or replace function private.letters_of(applications uuid[], blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return private.letter_deliveries_shown(array(
    select id from private.deliveries
    where application_id = any (applications) and kind in ('letter', 'decision', 'receipt')
    order by queued_at, is_beside, id
  ), blind) || private.drafts_shown(array(
    select id from private.letters where application_id = any (applications) and state = 'draft' order by drafted_at, id
  ), blind);
end
$$;

-- The states of the letters of some applications, without their texts, the oldest first.
create or replace function private.letter_states(applications uuid[]) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state, 'otherwise', otherwise) order by queued_at, way = 'automation', id), '[]')
    from private.letter_deliveries where application_id = any (applications) and state <> 'withdrawn'
  );
end
$$;

-- The state of all letters: the drafts of each template, the letters that did not arrive, and whether a server sends them.
-- Counts go up to a thousand, as for applications.
create or replace function private.letters_overview() returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', private.is_recent(seen_at), 'is_automation_there', private.is_recent(automation_seen_at),
        'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and private.is_recent(check_wanted_at),
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'templates', (
        select jsonb_agg(private.template_shown(template) || jsonb_build_object('drafts', (
          select private.up_to_thousand(count(*))
          from (select from private.letters where state = 'draft' and coalesce(letters.template, '') = name limit 1001) as counted
        )) order by array_position('{received,accepted,waitlisted,declined,reminder}', name), name)
        from private.templates as template
      ),
      -- Drafts of letters to one person.
      'personal', (
        select private.up_to_thousand(count(*))
        from (select from private.letters where state = 'draft' and coalesce(template, '') = '' limit 1001) as counted
      ),
      -- Released letters that can still be stopped, by act.
      'leaving', (
        select coalesce(jsonb_agg(to_jsonb(leaving) order by seconds), '[]')
        from (
          select act, count(distinct application_id), ceil(extract(epoch from max(due_at) - now()))::integer as seconds
          from private.deliveries
          where kind in ('letter', 'decision') and state = 'waiting' and due_at > now() and attempts = 0
          group by act
        ) as leaving
      ),
      'states', (
        select jsonb_object_agg(name, private.up_to_thousand(count))
        from (values
          ('waiting', (select count(*) from (
            select from private.deliveries
            where kind in ('letter', 'decision', 'receipt') and state in ('waiting', 'sending') limit 1001) as counted)),
          ('refused', (select count(*) from (
            select from private.deliveries
            where kind in ('letter', 'decision', 'receipt') and state = 'failed' and is_refused limit 1001) as counted)),
          ('given up', (select count(*) from (
            select from private.deliveries
            where kind in ('letter', 'decision', 'receipt') and state = 'failed' and not is_refused limit 1001) as counted))
        ) as counts (name, count)
      )
    )
    from private.postman
  );
end
$$;

-- Fifty drafts of one template, the oldest first.
create or replace function public.desk_drafts(occasion text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  ids uuid[] := array(
    select id from private.letters
    where coalesce(template, '') = occasion and state = 'draft' and (drafted_at, id) > (
      coalesce((after ->> 'at')::timestamptz, '-infinity'),
      coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
    order by drafted_at, id limit 50
  );
begin
  return jsonb_build_object('letters', private.drafts_shown(ids, me.blind), 'overview', private.letters_overview(), 'next', (
    select jsonb_build_object('at', drafted_at, 'id', id) from private.letters where id = ids[50]
  ));
end
$$;

-- Fifty letters that are pending (`waiting`), or that could not be delivered (`refused`, `given up`), the newest first.
-- Letters that were released together follow each other.
create or replace function public.desk_outbox(state text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  before timestamptz := coalesce((after ->> 'at')::timestamptz, 'infinity');
  before_id uuid := coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
  ids uuid[];
begin
  if desk_outbox.state = 'waiting' then
    ids := array(
      select id from private.deliveries as delivery
      where kind in ('letter', 'decision', 'receipt') and delivery.state in ('waiting', 'sending')
        and (queued_at, id) < (before, before_id)
      order by queued_at desc, id desc limit 50
    );
  elsif desk_outbox.state in ('refused', 'given up') then
    ids := array(
      select id from private.deliveries as delivery
      where kind in ('letter', 'decision', 'receipt') and delivery.state = 'failed'
        and is_refused = (desk_outbox.state = 'refused') and (queued_at, id) < (before, before_id)
      order by queued_at desc, id desc limit 50
    );
  else
    raise exception 'The state must be waiting, refused or given up.' using errcode = '22023';
  end if;
  return jsonb_build_object('letters', private.letter_deliveries_shown(ids, me.blind), 'overview', private.letters_overview(),
    'next', (
    select jsonb_build_object('at', queued_at, 'id', id) from private.deliveries where id = ids[50]
  ));
end
$$;

create or replace function public.desk_letters_of(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications can be requested at once.' using errcode = '22023';
  end if;
  return private.letters_of(applications, me.blind);
end
$$;

-- For desks that were opened before an update. Newer desks get this with the list.
create or replace function public.desk_letter_states(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications can be requested at once.' using errcode = '22023';
  end if;
  return private.letter_states(applications);
end
$$;

-- Normalises an address to its mailbox. Null if the mailbox is unknown: for addresses that a mail server may forward
-- (`ada%example.com@example.org`), for quoted names, and for names and domains beyond ASCII.
create or replace function private.mailbox(email text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  parts text[];
  name text;
  domain text;
begin
  if char_length(email) > 254 then return null; end if;
  parts := regexp_match(lower(email collate "C"),
    '^([a-z0-9_][a-z0-9_''-]*(?:\.[a-z0-9_''-]+)*)(?:\+[a-z0-9_''.+-]*)?'
    '@((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9]))\.?$');
  if parts is null then return null; end if;
  domain := case
    when parts[2] = 'googlemail.com' then 'gmail.com'
    when parts[2] in ('me.com', 'mac.com') then 'icloud.com'
    when parts[2] in ('protonmail.com', 'protonmail.ch', 'pm.me') then 'proton.me'
    when parts[2] ~ '^(ya\.ru|yandex\.[a-z]+)$' then 'yandex.ru'
    else parts[2]
  end;
  -- Remove the differences that these providers ignore.
  name := case
    when domain = 'gmail.com' then replace(parts[1], '.', '')
    when domain = 'proton.me' then translate(parts[1], '._-', '')
    when domain = 'yandex.ru' then replace(parts[1], '.', '-')
    when domain ~ '^(yahoo\.[a-z.]+|ymail\.com|rocketmail\.com)$' then split_part(parts[1], '-', 1)
    else parts[1]
  end;
  return nullif(name, '') || '@' || domain;
end
$$;

-- A name, if a receipt or a notice may contain it; null for names that look like links or messages.
create or replace function private.plain_name(given text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  name text := btrim(given);
  -- The name as it looks to a reader: `１` and `①` are 1, and a wide dot is a dot.
  normalised text;
begin
  if name = '' or char_length(name) > 40 then return null; end if;
  normalised := normalize(name, nfkc);
  return case when
    -- No characters that become links or change the text's direction.
    normalised !~ '[[:cntrl:].:/\\@<>\u0085\u2028-\u202e\u2066-\u2069]' and normalised !~* '^www'
    -- Characters that look like a dot, a colon or a slash.
    and normalised !~ '[\u00b7\u02d0\u0323\u0589\u05c3\u06d4\u0701\u0702\u0964\u1362\u166e\u16eb\u1803\u1809\u2022\u2027\u2044\u2215\u2219\u2236\u22c5\u2571\u25cf\u2981\u29f8\u2cf9\u2cfe\u2e31\u2e33\u2e3c\u3002\u30fb\ua4f8\ua60e\ua6f3\ua789\ua78f\U00010101\U00010a50\U0001d16d]'
    -- No telephone number, and no sentence.
    and normalised collate "und-x-icu" !~ '[[:digit:]]'
    and cardinality(regexp_split_to_array(normalised, '[\s\u00ad\u115f\u1160\u1680\u180e\u200b\u2060\u2800\ufeff]+')) <= 4
    then name end;
end
$$;

-- Writes a receipt: at most one a day to a mailbox, in any spelling of its address, and twenty to a domain, so that nobody can
-- flood a company's mailboxes. If two inserts for one domain run at once, one skips its receipt instead of waiting.
create or replace function private.write_receipt(application public.retreat_applications) returns void
  language plpgsql set search_path = ''
as $$
declare
  recipient text := private.mailbox(application.email);
  -- Three labels for domains such as `example.co.uk`.
  company text := substring(split_part(recipient, '@', 2) from '[^.]+\.(?:[^.]{1,3}\.[a-z]{2}|[^.]+)$');
  -- Public mail providers.
  is_provider boolean := company = any ('{163.com,aol.com,gmail.com,gmx.at,gmx.ch,gmx.com,gmx.de,gmx.net,hotmail.com,
    icloud.com,live.com,mail.ru,msn.com,naver.com,outlook.com,proton.me,qq.com,web.de,yahoo.com,yandex.ru,ymail.com}');
  template private.templates;
  text jsonb;
begin
  if recipient is null
    or not pg_try_advisory_xact_lock(hashtextextended(case when is_provider then recipient else company end, 0))
  then
    return;
  end if;
  -- Separate statements, so that they see what was committed before the lock was taken. Future times were stored before the
  -- clock was set back.
  perform from private.deliveries
    where mailbox = recipient and queued_at > now() - interval '1 day' and queued_at <= clock_timestamp();
  if found then return; end if;
  perform from private.deliveries
    where domain = company
      and queued_at > now() - interval '1 day' and queued_at <= clock_timestamp()
    offset case when is_provider then 999 else 19 end limit 1;
  if found then return; end if;
  select * into template from private.templates where kind = 'receipt';
  text := private.receipt(template.subject, template.body, application.first_name);
  insert into private.deliveries (kind, application_id, subject, body, mailbox, domain)
    values ('receipt', application.id, text ->> 'subject', text ->> 'body', recipient, company);
end
$$;

-- Cancels the receipt of somebody who gets a letter.
create or replace function private.withdraw_receipt(application uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.recall(array(
    select id from private.deliveries
    where application_id = application and kind = 'receipt' and state = 'waiting' for update
  ));
end
$$;

-- Notifies the organisers who want an email for each application or RSVP. Beyond ten an hour, the daily email covers them.
create function private.write_notices(application uuid, event bigint default null) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.deliveries (kind, organiser_id, application_id, event_id)
      select 'notice', account_id, write_notices.application, event from private.organisers as organiser
      where notices = 'each' and (
        select count(*) from private.deliveries as notice
        where organiser_id = account_id and kind = 'notice' and application_id is not null
          and queued_at > now() - interval '1 hour' and queued_at <= clock_timestamp()
      ) < 10;
  end;

revoke all on function private.write_notices(uuid, bigint) from public, anon, authenticated;

-- Writes the notices of the RSVP that an applicant gave by this act. If that fails, the RSVP is still stored.
create function private.write_rsvp_notices(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.write_notices(application, id) from private.history
    where application_id = application and history.act = write_rsvp_notices.act;
exception when others then
  raise log 'An RSVP was stored without notices (SQLSTATE %).', sqlstate;
end
$$;

revoke all on function private.write_rsvp_notices(uuid, uuid) from public, anon, authenticated;

-- Whether a single notice about this application, or about this RSVP, was sent to an organiser. A failed one counts too.
create function private.had_notice(organiser uuid, application uuid, event bigint) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.deliveries as notice
    where organiser_id = organiser and kind = 'notice' and application_id = application
      and event_id is not distinct from event and due_at is null
  )
$$;

revoke all on function private.had_notice(uuid, uuid, bigint) from public, anon, authenticated;

-- Writes the daily emails that are due, if there are applications or RSVPs that no notice has reported since the last.
create function private.write_day_notices() returns void
  language sql set search_path = ''
  begin atomic
    with due as (
      -- Applications that are being stored at this moment are reported in the next daily email.
      select account_id, told_until, now() - interval '1 minute' as until from private.organisers
      where notices <> 'off' and day_due_at <= now() for no key update skip locked
    ), updated as (
      update private.organisers as organiser set told_until = due.until,
        day_due_at = day_due_at + ceil(extract(epoch from now() - day_due_at) / 86400 + 0.00001) * interval '1 day'
      from due where organiser.account_id = due.account_id
    )
    insert into private.deliveries (kind, organiser_id, since, until)
      select 'notice', account_id, told_until, until from due
      where exists (
        select from public.retreat_applications as application
        where created_at > told_until and created_at <= until and not private.had_notice(account_id, application.id, null)
      ) or exists (
        select from private.history as rsvp
        where kind = 'answer' and author = 'applicant' and at > told_until and at <= until
          and not private.had_notice(account_id, rsvp.application_id, rsvp.id)
      );
  end;

revoke all on function private.write_day_notices() from public, anon, authenticated;

-- Deletes notices and tests after a day, sent or not, and writes the daily emails that are due. A single notice that ended
-- stays until the daily email has skipped what it reported.
create function private.keep_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  -- A time later than it is ever set was stored before the clock was set back.
  update private.organisers
    set told_until = least(told_until, now() - interval '1 minute'),
      day_due_at = day_due_at
        - greatest(0, ceil(extract(epoch from day_due_at - now()) / 86400) - 1) * interval '1 day'
    where told_until > now() or day_due_at > now() + interval '1 day';
  delete from private.deliveries as notice using private.organisers
    where account_id = organiser_id and kind in ('notice', 'test') and queued_at <= now() - interval '1 day'
      and (kind = 'test' or application_id is null or due_at is not null or queued_at < told_until - interval '1 hour');
  perform private.write_day_notices();
end
$$;

revoke all on function private.keep_notices() from public, anon, authenticated;

-- Claims a notice or a test that is due. Returns null and deletes it if it reports nothing, or if the daily email reports
-- the same.
create function private.claim_notice(notice uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  organiser private.organisers;
  report jsonb;
begin
  select * into claimed from private.deliveries where id = notice;
  select * into organiser from private.organisers where account_id = claimed.organiser_id;
  if claimed.kind = 'notice' and claimed.application_id is not null and (
    claimed.attempts = 0 and (
      select count(*) from private.deliveries as other
      where organiser_id = claimed.organiser_id and kind = 'notice' and application_id is not null
        and tried_at > now() - interval '1 hour' and tried_at <= clock_timestamp()
        and queued_at > now() - interval '1 day'
    ) >= 10
    or claimed.queued_at <= organiser.told_until and organiser.told_until <= clock_timestamp()
  ) then
    delete from private.deliveries where id = notice;
    return null;
  end if;
  claimed := private.claim_one(notice, lease);
  if claimed.kind = 'notice' then
    report := private.notice_content(claimed, organiser.blind);
    if claimed.application_id is null and report @> '{"count": 0, "coming": 0, "notComing": 0}' then
      delete from private.deliveries where id = notice;
      return null;
    end if;
  end if;
  return (
    select jsonb_build_object('id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.may_have_arrived,
      'closings', claimed.closings, 'age', extract(epoch from now() - claimed.queued_at) * 1000, 'to', email,
      'says', coalesce(report, jsonb_build_object('subject', claimed.subject, 'body', claimed.body)))
    from auth.users where id = claimed.organiser_id
  );
end
$$;

revoke all on function private.claim_notice(uuid, interval) from public, anon, authenticated;

-- The content of a notice: one application or RSVP, or the counts of a day, with up to fifty plain names of applicants.
-- Applications are counted up to a thousand. Organisers who read blind get no names.
create function private.notice_content(notice private.deliveries, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'application', notice.application_id,
      'answer', (select detail ->> 'answer' from private.history where id = notice.event_id),
      'since', notice.since, 'count', count(*),
      'names', case when blind then '[]' else coalesce(to_jsonb((array_agg(name order by position) filter (where name is not null))[:50]), '[]') end
    )
    from (
      select coalesce(private.plain_name(first_name || ' ' || last_name), private.plain_name(first_name)) as name,
        row_number() over (order by created_at, id) as position
      from public.retreat_applications as application
      where application.id = notice.application_id
        or created_at > notice.since and created_at <= notice.until
          and not private.had_notice(notice.organiser_id, application.id, null)
      order by created_at, id limit 1000
    ) as application
  ) || (
    select jsonb_build_object(
      'coming', count(*) filter (where detail ->> 'answer' = 'coming'),
      'notComing', count(*) filter (where detail ->> 'answer' = 'not coming'))
    from private.history as rsvp
    where kind = 'answer' and author = 'applicant' and at > notice.since and at <= notice.until
      and not private.had_notice(notice.organiser_id, rsvp.application_id, rsvp.id)
  );
end
$$;

revoke all on function private.notice_content(private.deliveries, boolean) from public, anon, authenticated;

create or replace function private.write_receipts_and_notices() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  receipts boolean := (select settings.receipts from private.letter_settings as settings);
  application public.retreat_applications;
begin
  if not receipts and not exists (select from private.organisers where notices = 'each') then return null; end if;
  for application in select stored.* from arrived join public.retreat_applications as stored using (id) loop
    begin
      if receipts then perform private.write_receipt(application); end if;
      perform private.write_notices(application.id);
    -- Storing the application matters more than its emails.
    exception when others then
      raise log 'An application was stored without receipt and notices (SQLSTATE %).', sqlstate;
    end;
  end loop;
  return null;
end
$$;

-- Whether the caller gets emails about applications, and whether a server sends them.
create or replace function public.desk_notices() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('notices', notices, 'day_due_at', case when notices <> 'off' then day_due_at end,
      'email', me.email, 'is_postman_there', (select private.is_recent(seen_at) from private.postman))
    from private.organisers where account_id = me.id
  );
end
$$;

-- Switches notices on or off. The daily email is sent at the time of day at which notices were switched on.
create or replace function public.desk_set_notices(notices text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_notices.notices is null or desk_set_notices.notices not in ('off', 'each', 'daily') then
    raise exception 'Notices are off, each or daily.' using errcode = '22023';
  end if;
  update private.organisers as organiser set notices = desk_set_notices.notices,
    told_until = case organiser.notices when 'off' then now() else told_until end,
    day_due_at = case organiser.notices when 'off' then now() + interval '1 day' else day_due_at end
    where account_id = me.id and organiser.notices <> desk_set_notices.notices;
  return public.desk_notices();
end
$$;

-- Sends the caller a text, filled in for an application as its applicant would get it. Repeating the act sends no second
-- email.
create or replace function public.desk_send_test(
  subject text, body text, application uuid default null, occasion text default null,
  act uuid default null, site text default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  text jsonb;
begin
  perform private.check_template(occasion, subject, body);
  if not exists (select from private.postman where private.is_recent(seen_at)) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  end if;
  perform private.check_site(site);
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_send_test', subject, body) then
    return jsonb_build_object('to', me.email);
  end if;
  text := private.example(occasion, subject, body, application, me.blind, site);
  if text is null then
    raise exception 'There is no application to fill it with yet.' using errcode = '22023';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'This letter is too long once filled in.' using errcode = '22023';
  end if;
  perform from public.retreat_applications where id = (text ->> 'application')::uuid for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- Serialises concurrent calls, so that each is counted.
  perform from private.organisers where account_id = me.id for no key update;
  if (
    select count(*) from private.deliveries
    where organiser_id = me.id and kind = 'test'
      and queued_at > now() - interval '1 hour' and queued_at <= clock_timestamp()
  ) >= 20 then
    raise exception 'At most twenty tests an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (act, 'test', me.id, (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;

-- Whether PostgreSQL knows a time zone by this name. It reads all names, which takes some time.
create function private.is_zone(zone text) returns boolean
  language sql stable set search_path = ''
  begin atomic
    select exists (select from pg_timezone_names where name = zone);
  end;

revoke all on function private.is_zone(text) from public, anon, authenticated;

-- Sets the time zone of deadlines, unless one is set.
create or replace function private.adopt_zone(zone text) returns void
  language plpgsql set search_path = ''
as $$
begin
  if exists (select from private.places where places.zone is null) and private.is_zone(adopt_zone.zone) then
    update private.places set zone = adopt_zone.zone where places.zone is null;
  end if;
end
$$;

-- Invites an accepted person. The names of its triggers sort after `redraft`, so that letters are locked before invitations.
create or replace function private.sync_invitation() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.status = 'accepted' then
    insert into private.invitations (application_id, is_accepted) values (new.application_id, true)
      on conflict (application_id) do update set is_accepted = true;
  else
    update private.invitations set is_accepted = false where application_id = new.application_id and is_accepted;
  end if;
  return null;
end
$$;

-- Runs when a letter arrived or may have arrived. A decision is then also sent to an automation, if a server for one was
-- seen within a day. From then on, an accepted person is asked for an RSVP. Another decision resets the invitation: a later
-- acceptance has a new link and no RSVP. It resets nothing if a later letter has already arrived.
create or replace function private.follow_told() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  template text := (select letters.template from private.letters where id = new.letter_id);
begin
  -- Queued once, even if an earlier try may have arrived. Letters sent by hand are excluded: the automation might email the
  -- applicant too.
  if private.is_decision(template) and new.kind = 'letter' and new."by" <> 'hand' then
    insert into private.deliveries (kind, application_id, letter_id, subject, body, act, author, is_beside)
      select 'decision', new.application_id, new.letter_id, new.subject, new.body, new.act, new.author, true
      from private.postman
      where automation_seen_at > now() - interval '1 day' and not exists (
        select from private.deliveries as told
        where told.letter_id = new.letter_id and told.kind = 'decision' and told.act is not distinct from new.act
      );
  end if;
  if private.is_decision(template) and template <> 'accepted' then
    if exists (
      select from private.deliveries as later
      where later.application_id = new.application_id and private.has_told(later) and later.queued_at > new.queued_at
    ) then
      return null;
    end if;
    update private.invitations
      set token = gen_random_uuid(), told_at = null, deadline = null, is_deadline_set = false, rsvp = null, rsvp_at = null
      where application_id = new.application_id
        and (told_at is not null or deadline is not null or rsvp is not null);
  elsif template = 'accepted' or private.has_link(new.body) then
    update private.invitations set
        told_at = now(), deadline = coalesce(deadline, private.today() + (select days from private.places))
      where application_id = new.application_id and told_at is null;
  end if;
  if template = 'reminder' and new.state = 'done' then
    update private.invitations set reminded_at = new.done_at where application_id = new.application_id;
  end if;
  return null;
end
$$;

create function private.has_deadline(given text) returns boolean
  language sql immutable set search_path = ''
  return given ~ '\{\{\s*reply_by\s*\}\}';

revoke all on function private.has_deadline(text) from public, anon, authenticated;

-- Whether an applicant's deadline has passed. It cannot pass before they were told or an organiser set it: until then, the
-- handover sets it.
create function private.is_deadline_over(application uuid) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from private.invitations
    where application_id = application and deadline < private.today() and (told_at is not null or is_deadline_set)
  );
end
$$;

revoke all on function private.is_deadline_over(uuid) from public, anon, authenticated;

-- The link and the deadline in a letter until it is handed over: placeholders, or blank if no RSVP can be given.
create function private.invitation_placeholders(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_asked boolean := exists (select from private.invitations where application_id = application and is_accepted)
    and not private.is_deadline_over(application);
begin
  return jsonb_build_object(
    'answer_link', case when is_asked then '{{answer_link}}' else '' end,
    'reply_by', case when is_asked then '{{reply_by}}' else '' end);
end
$$;

revoke all on function private.invitation_placeholders(uuid) from public, anon, authenticated;

-- Whether a delivery has the deadline or the link, and the deadline has passed. An acceptance that an automation sends in
-- place of our email always counts as having both.
create function private.is_overdue(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return (
      private.has_link(delivery.subject || delivery.body) or private.has_deadline(delivery.subject || delivery.body)
      or delivery.kind = 'decision' and exists (
        select from private.letters where id = delivery.letter_id and template = 'accepted'
      )
    )
    and private.is_main(delivery) and private.is_deadline_over(delivery.application_id);
end
$$;

revoke all on function private.is_overdue(private.deliveries) from public, anon, authenticated;

-- A text with the link and the deadline filled in. If no site is known, the paragraphs with the link are left out.
create function private.with_invitation(given text, link text, deadline date) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  if link is null and private.has_link(given) then
    given := array_to_string(array(
      select paragraph
      from regexp_split_to_table(given, '(?:\r?\n[ \t]*){2,}') with ordinality as parts (paragraph, position)
      where not private.has_link(paragraph) order by position
    ), E'\n\n');
  end if;
  given := regexp_replace(given, '\{\{\s*answer_link\s*\}\}', coalesce(link, ''), 'g');
  return regexp_replace(given, '\{\{\s*reply_by\s*\}\}', to_char(deadline, 'FMDD FMMonth YYYY'), 'g');
end
$$;

revoke all on function private.with_invitation(text, text, date) from public, anon, authenticated;

-- Sets the deadline of the recipient of a letter that is being handed over. The result is their link, null if the site's
-- address is unknown, and their deadline. Until they were told, or an organiser set it, the days count from the last
-- handover. The update reads only its own row: a subquery would read the row as it was before the lock.
create function private.set_deadline_at_handover(application uuid, site text default null, out link text, out deadline date)
  language plpgsql set search_path = ''
as $$
declare
  settings private.places;
  default_deadline date;
begin
  select * into settings from private.places;
  default_deadline := private.today() + settings.days;
  update private.invitations as invitation set deadline = case
      when told_at is null and not is_deadline_set then greatest(invitation.deadline, default_deadline)
      else coalesce(invitation.deadline, default_deadline)
    end
    where application_id = application and is_accepted
    returning coalesce(nullif(settings.site, ''), nullif(set_deadline_at_handover.site, '')) || '/answer/#' || token, invitation.deadline
    into link, deadline;
end
$$;

revoke all on function private.set_deadline_at_handover(uuid, text) from public, anon, authenticated;

-- Subject and body of a letter as it is handed over, and the link in it.
create function private.fill_at_handover(
  application uuid, inout subject text, inout body text, site text default null, out link text
)
  language plpgsql set search_path = ''
as $$
declare
  invitation record;
begin
  if private.has_link(subject || body) or private.has_deadline(subject || body) then
    invitation := private.set_deadline_at_handover(application, site);
    link := invitation.link;
    subject := private.with_invitation(subject, coalesce(invitation.link, ''), invitation.deadline);
    body := private.with_invitation(body, invitation.link, invitation.deadline);
  end if;
end
$$;

revoke all on function private.fill_at_handover(uuid, text, text, text) from public, anon, authenticated;

-- Sets an RSVP, null for none. The caller has locked the application. The newest RSVP counts, and the history has all. A
-- person with an RSVP gets no more reminders.
create function private.set_rsvp(application uuid, act uuid, author text, rsvp text) returns void
  language plpgsql set search_path = ''
as $$
begin
  if exists (
    select from private.invitations as invitation
    where application_id = application and invitation.rsvp is not distinct from set_rsvp.rsvp
  ) then
    return;
  end if;
  perform private.write_down(application, act, author, 'answer', jsonb_build_object('answer', rsvp));
  if rsvp is not null then
    perform private.drop_letters(application, 'reminder');
  end if;
  update private.invitations as invitation
    set rsvp = set_rsvp.rsvp, rsvp_at = case when set_rsvp.rsvp is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_rsvp_notices(application, act);
  end if;
end
$$;

revoke all on function private.set_rsvp(uuid, uuid, text, text) from public, anon, authenticated;

-- The application of a link's token; null if there is none, or the acceptance was taken back.
create function private.application_of_token(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application_id from private.invitations as invitation
  where is_accepted and invitation.token
    = case when application_of_token.token ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then application_of_token.token::uuid end
$$;

revoke all on function private.application_of_token(text) from public, anon, authenticated;

-- An invitation as its page shows it: {"state": "open", "first_name", "until", "answer", "address": the reply address}; after the
-- deadline {"state": "over", ...}; and for an invalid link {"state": "invalid"}.
create or replace function public.place_by_token(token text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  return (
    select jsonb_build_object(
      'state', case when until < private.today() then 'over' else 'open' end,
      'first_name', left(btrim(first_name, E' \t\r\n'), 200), 'until', until, 'answer', rsvp,
      'address', coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender)
    )
    from private.invitations as invitation
      join public.retreat_applications as application_row on application_row.id = application_id
      cross join private.places
      cross join lateral (select coalesce(deadline, private.today() + places.days) as until) as counted
    where application_id = application
  );
end
$$;

-- Stores an RSVP that was given by the link: `coming`, or `not coming`. Repeating the act stores nothing more. The result is the
-- invitation afterwards. After the deadline nothing is stored.
create or replace function public.answer_place(token text, answer text, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if act is null or answer is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming" or "not coming", and has an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- Checked again under the lock, since a decision may have changed it.
  if private.application_of_token(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif public.place_by_token(token) ->> 'state' = 'open' and private.begin_act(act, 'answer_place', token, answer) then
    if (
      select count(*) from private.history
      where application_id = application and kind = 'answer' and author = 'applicant'
        and at > now() - interval '1 hour' and at <= clock_timestamp()
    ) >= 20 then
      raise exception 'There were too many changes. Please try again in an hour.' using errcode = 'PT429';
    end if;
    perform private.set_rsvp(application, act, 'applicant', answer);
  end if;
  return public.place_by_token(token);
end
$$;

-- Locks an application, and refuses one that is not accepted.
create function private.lock_accepted(application uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  perform from private.invitations where application_id = application and is_accepted;
  if not found then
    raise exception 'This application is no longer accepted.' using errcode = 'PT409';
  end if;
end
$$;

revoke all on function private.lock_accepted(uuid) from public, anon, authenticated;

-- Records an RSVP that was not given on the page: `coming`, `not coming`, or null for none.
create or replace function public.desk_set_answer(act uuid, application uuid, answer text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming", "not coming" or none, and has an id.' using errcode = '22023';
  end if;
  perform private.lock_accepted(application);
  if private.begin_act(act, 'desk_set_answer', application::text, answer) then
    perform private.set_rsvp(application, act, me.email, answer);
  end if;
  return private.application_details(application, me.blind);
end
$$;

-- Moves somebody's deadline.
create or replace function public.desk_keep_until(act uuid, application uuid, until date) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or until is null or until < private.today() or until > '9999-12-31' then
    raise exception 'A deadline is today or a later day.' using errcode = '22023';
  end if;
  perform private.lock_accepted(application);
  -- A retry must not overwrite a deadline that was set since.
  if private.begin_act(act, 'desk_keep_until', application::text, until::text) then
    perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
    update private.invitations set deadline = until, is_deadline_set = true where application_id = application;
  end if;
  return private.application_details(application, me.blind);
end
$$;

-- The numbers of places and RSVPs, and the waitlist: {version, places, days, zone, is_zone_set, site, today, coming,
-- not_coming, no_answer, late, not_told, free, waitlisted, waitlist}. `late` is a part of `no_answer`. `free` is null if the
-- number of places is unknown, and negative if more people were accepted. `waitlist` has the first twenty of those
-- `waitlisted`. `zone` is `UTC` until one is set. Older desks send the argument, which is ignored.
create or replace function public.desk_places(zone text default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  -- Computed once, not for each row.
  today constant date := private.today();
begin
  return (
    with counted as (
      select count(*) filter (where state = 'coming') as coming,
        count(*) filter (where state = 'not coming') as not_coming,
        count(*) filter (where state in ('no answer', 'late')) as no_answer,
        count(*) filter (where state = 'late') as late,
        count(*) filter (where state = 'not told') as not_told
      from (
        select private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) as state
        from private.invitations
        where is_accepted
      ) as invitations
    )
    select to_jsonb(counted) || jsonb_build_object(
      'version', version, 'places', places, 'days', days, 'zone', coalesce(settings.zone, 'UTC'),
      'is_zone_set', settings.zone is not null, 'site', site,
      'today', today, 'free', places - coming - no_answer - not_told,
      'waitlisted', (select count(*) from private.statuses where status = 'waitlisted'),
      'waitlist', (
        select coalesce(jsonb_agg(
          jsonb_build_object('set_at', set_at) || (
            -- The beginnings of long form answers.
            select jsonb_object_agg(key,
              case jsonb_typeof(value) when 'string' then to_jsonb(left(value #>> '{}', 200)) else value end)
            from jsonb_each(private.form_answers(application, me.blind) || summary)
          )
          order by set_at, id), '[]')
        from (
          select application_id, set_at from private.statuses
          where status = 'waitlisted' order by set_at, application_id limit 20
        ) as waiting
          join public.retreat_applications as application on id = waiting.application_id
          cross join private.summaries(array[id], me.blind)
      ))
    from private.places as settings, counted
  );
end
$$;

drop function public.desk_set_places(integer, integer, integer);

-- Sets the number of places, null for unknown; the days that people have for their RSVP; and the time zone of deadlines,
-- null to leave it unchanged.
create function public.desk_set_places(version integer, places integer, days integer, zone text default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.places;
begin
  if not coalesce(places between 0 and 1000000, true) then
    raise exception 'There are 0 to 1,000,000 places.' using errcode = '22023';
  elsif not coalesce(days between 1 and 365, false) then
    raise exception 'There are 1 to 365 days to answer.' using errcode = '22023';
  end if;
  select * into former from private.places for update;
  zone := coalesce(zone, former.zone);
  if zone is distinct from former.zone and not private.is_zone(zone) then
    raise exception 'There is no time zone "%".', left(zone, 100) using errcode = '22023';
  elsif former.version = desk_set_places.version then
    update private.places as settings set version = former.version + 1, places = desk_set_places.places,
      days = desk_set_places.days, zone = desk_set_places.zone;
    if (former.places, former.days, former.zone) is distinct from (places, days, zone) then
      insert into private.history (author, kind, detail)
        values (me.email, 'places', jsonb_build_object('places', places, 'days', days)
          || case when zone is distinct from former.zone then jsonb_build_object('zone', zone) else '{}' end);
    end if;
  elsif former.version is distinct from desk_set_places.version + 1
    or (former.places, former.days, former.zone) is distinct from (places, days, zone)
  then
    -- Not a repeat whose response was lost.
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return public.desk_places();
end
$$;

revoke all on function public.desk_set_places(integer, integer, integer, text) from public, anon, authenticated;
grant execute on function public.desk_set_places(integer, integer, integer, text) to authenticated;

-- The people to remind, those with the earliest deadline first, at most 1,001. Also the number of people with a reminder that is
-- not sent yet, and of those who got one in the last three days.
create or replace function private.to_remind(today date, out wanted uuid[], out waiting bigint, out reminded bigint)
  language plpgsql stable
  -- PostgreSQL has no statistics of newly drafted reminders, and would choose a slow nested loop.
  set search_path = '' set enable_nestloop = off
as $$
begin
  with unsent as materialized (
    -- Each part has an index, so sent letters are not read.
    select application_id from private.letters where coalesce(template, '') = 'reminder' and state = 'draft'
    union select application_id from private.deliveries
      where kind = 'letter' and state in ('waiting', 'sending', 'failed')
        -- A subquery: for a join, PostgreSQL would read all letters.
        and (select template from private.letters where id = letter_id) = 'reminder'
  ), asked as (
    select application_id, deadline, unsent.application_id is not null as is_waiting,
      coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
    from private.invitations left join unsent using (application_id)
    where private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) in ('no answer', 'late')
  )
  select array(
      select application_id from asked where not is_waiting and not is_reminded
      order by deadline, application_id limit 1001
    ),
    (select count(*) from asked where is_waiting),
    (select count(*) from asked where is_reminded and not is_waiting)
    into wanted, waiting, reminded;
end
$$;

drop function public.desk_remind();

-- Drafts reminders for people without an RSVP, those with the earliest deadline first, at most 1,000 at once. Nobody is
-- reminded twice in three days. The result is {drafted, late, waiting, reminded, more}. `late` counts the drafted ones whose
-- deadline has to be moved first. `waiting` counts people with a reminder that is not sent yet, and `reminded` those who got
-- one in the last three days. Repeating the act drafts none and returns the first result. A desk of version 1.0 sends no id.
create function public.desk_remind(act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  today constant date := private.today();
  found record;
  drafted uuid[] := array[]::uuid[];
  application uuid;
begin
  perform private.caller();
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_remind', variadic '{}') then
    return (select result from private.acts where acts.act = desk_remind.act);
  end if;
  perform from private.templates where name = 'reminder' for key share;
  found := private.to_remind(today);
  perform private.lock_for_letters(found.wanted[:1000]);
  for application in
    select application_id from private.invitations
    where application_id = any (found.wanted[:1000])
      and private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) in ('no answer', 'late')
    order by application_id
  loop
    if private.draft_from_template(application, 'reminder', true) is not null then drafted := drafted || application; end if;
  end loop;
  return private.end_act(act, jsonb_build_object(
    'drafted', cardinality(drafted),
    'late', (
      select count(*) from private.invitations
      where application_id = any (drafted) and deadline < today
    ),
    'waiting', found.waiting, 'reminded', found.reminded, 'more', cardinality(found.wanted) > 1000
  ));
end
$$;

revoke all on function public.desk_remind(uuid) from public, anon, authenticated;
grant execute on function public.desk_remind(uuid) to authenticated;

-- The back-off of all emails after this many failures in a row of the mail server.
create function private.mail_back_off(failures integer) returns interval
  language sql immutable
  return (array[5, 15, 60, 300, 600])[greatest(1, least(failures, 5))] * interval '1 second';

revoke all on function private.mail_back_off(integer) from public, anon, authenticated;

-- Whether an email may be sent now. A time later than it is ever set delays nothing: the clock was set back.
create function private.may_leave(postman private.postman, pace interval) returns boolean
  language sql stable
  return not postman.stopped
    and (postman.paused_until <= now()
      or postman.paused_until > clock_timestamp() + private.mail_back_off(postman.failures))
    and (pace is null or postman.next_at <= now() or postman.next_at > clock_timestamp() + pace);

revoke all on function private.may_leave(private.postman, interval) from public, anon, authenticated;

-- Whether this hour's limit allows another receipt or notice: a hundred, over all servers.
create function private.has_room(postman private.postman) returns boolean
  language sql stable
  return postman.in_hour < 100 or postman.hour_began_at not between now() - interval '1 hour' and clock_timestamp();

revoke all on function private.has_room(private.postman) from public, anon, authenticated;

-- Clears the problem that delays all emails: the mail server has accepted one.
create function private.clear_mail_problem() returns void
  language sql set search_path = ''
  begin atomic
    update private.postman
      set failures = 0, problem = '', failing_since = null, paused_until = least(paused_until, now())
      where failures > 0 or problem <> '' or failing_since is not null;
  end;

revoke all on function private.clear_mail_problem() from public, anon, authenticated;

-- Whether another email is being sent to the same applicant: letters have to arrive in the order of their release.
create function private.is_busy(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  recipient text := (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = delivery.application_id
  );
begin
  return exists (
    select from private.deliveries as other join public.retreat_applications as theirs on theirs.id = other.application_id
    where other.kind in ('letter', 'receipt') and other.state = 'sending' and other.due_at > now() and other.id <> delivery.id
      and (other.application_id = delivery.application_id
        or private.person(private.address_of(theirs.id, theirs.email)) = recipient)
  );
end
$$;

revoke all on function private.is_busy(private.deliveries) from public, anon, authenticated;

-- Finds and locks the next email to send. Tests come first, since an organiser waits for them. Letters and notices follow.
-- Receipts come last: there may be as many as applications. Locked rows are skipped. The query joins no other table: for a
-- join, PostgreSQL would read all due emails to find the first.
create function private.due_mail(kinds text[], has_room boolean, out kind text, out id uuid)
  language plpgsql set search_path = ''
as $$
declare
  moments record;
begin
  foreach kind in array '{test,letter,notice,receipt}'::text[] loop
    continue when not kind = any (kinds) or kind in ('notice', 'receipt') and not has_room;
    for moments in select * from private.due_moments() loop
      select delivery.id into due_mail.id from private.deliveries as delivery
        where delivery.kind = due_mail.kind and due_at >= moments.since and due_at <= moments.until and recalled_at is null
          -- Other emails are not sent after a day.
          and (delivery.kind = 'letter' or queued_at > now() - interval '1 day')
          and (delivery.kind not in ('letter', 'receipt') or not private.is_busy(delivery))
        order by due_at limit 1 for update skip locked;
      if found then return; end if;
    end loop;
  end loop;
end
$$;

revoke all on function private.due_mail(text[], boolean) from public, anon, authenticated;

-- Claims the email that has been due longest, for one server and the duration of the lease; null if none is due or may be
-- sent. It locks the postman's row first and then checks again what is due: the previous holder of the lock may have claimed
-- a letter to the same person. In the order of locks, only invitations come after this row. `pace`: the time between two
-- emails, null for none.
create function private.claim_mail(pace interval, kinds text[] default '{test,letter,notice,receipt}') returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  -- Longer than any handover takes.
  lease constant interval := interval '90 seconds';
  -- How late an email may be without delaying the following ones.
  slack constant interval := interval '200 milliseconds';
  postman private.postman;
  due record;
  mail jsonb;
begin
  -- A server that is about to change the schema holds this lock, and waits for the claimed emails.
  if not pg_try_advisory_xact_lock_shared(5610748) then return null; end if;
  select * into postman from private.postman;
  -- Do not write if nothing is due or may be sent.
  if not private.may_leave(postman, pace) then return null; end if;
  due := private.due_mail(kinds, private.has_room(postman));
  if due.id is null then return null; end if;
  select * into postman from private.postman for update;
  if not private.may_leave(postman, pace) then return null; end if;
  loop
    due := private.due_mail(kinds, private.has_room(postman));
    if due.id is null then return null; end if;
    mail := case when due.kind in ('test', 'notice') then private.claim_notice(due.id, lease)
      else private.claim_letter(due.id, lease) end;
    exit when mail is not null;
  end loop;
  update private.postman as row set
    next_at = case when pace is null then row.next_at else least(greatest(row.next_at, now() - slack), now()) + pace end,
    (hour_began_at, in_hour) = (
      select case when counts and is_new then now() else row.hour_began_at end,
        case when not counts then row.in_hour when is_new then 1 else row.in_hour + 1 end
      from (
        select due.kind in ('notice', 'receipt') as counts,
          row.hour_began_at not between now() - interval '1 hour' and clock_timestamp() as is_new
      ) as hour
    );
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

revoke all on function private.claim_mail(interval, text[]) from public, anon, authenticated;

-- Claims a letter or a receipt that is due, and fills in the link and the deadline.
create function private.claim_letter(delivery uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  was_sending boolean := (select state = 'sending' from private.deliveries where id = delivery);
  claimed private.deliveries := private.claim_one(delivery, lease);
  sent record;
begin
  sent := private.fill_at_handover(claimed.application_id, claimed.subject, claimed.body);
  return (
    select jsonb_build_object(
      'id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.may_have_arrived, 'closings', claimed.closings,
      'age', extract(epoch from now() - claimed.queued_at) * 1000,
      'to', private.address_of(application.id, application.email), 'subject', sent.subject, 'body', sent.body,
      'link', sent.link, 'replyTo', reply_to,
      'is_overdue', private.is_overdue(claimed), 'was_sending', was_sending
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;

revoke all on function private.claim_letter(uuid, interval) from public, anon, authenticated;

-- Stops or resumes all letters. After a resume, each can be stopped for a minute, as after its release.
create function private.stop_letters(stopped boolean, author text) returns void
  language plpgsql set search_path = ''
as $$
declare
  waiting uuid[];
begin
  if not stop_letters.stopped and (select postman.stopped from private.postman) then
    -- Locked before the postman's row, as in the order of locks.
    waiting := array(
      select id from private.deliveries
      where kind in ('letter', 'decision') and state = 'waiting' and attempts = 0 and not is_beside
    );
    perform private.lock_letters(waiting);
    update private.deliveries set due_at = now() + (select hold from private.letter_settings)
      where id = any (waiting) and state = 'waiting' and attempts = 0;
  end if;
  update private.postman set stopped = stop_letters.stopped where postman.stopped <> stop_letters.stopped;
  if found then perform private.write_down_letters(author, jsonb_build_object('stopped', stop_letters.stopped)); end if;
end
$$;

revoke all on function private.stop_letters(boolean, text) from public, anon, authenticated;

-- Stops or resumes all letters for an organiser. The result counts the applicants whose letters are sent after a resume.
create or replace function public.desk_stop(stopped boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_stop.stopped is null then
    raise exception 'Letters are stopped or not.' using errcode = '22023';
  end if;
  perform private.stop_letters(desk_stop.stopped, me.email);
  return jsonb_build_object('stopped', desk_stop.stopped, 'leaving', (
    select count(distinct application_id) from private.deliveries
    where not desk_stop.stopped and kind in ('letter', 'decision') and state = 'waiting' and due_at > now() and attempts = 0
  ));
end
$$;

-- Sets the reply address, and whether receipts are sent.
create or replace function public.desk_set_letters(version integer, reply_to text, receipts boolean default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.letter_settings;
  kept private.letter_settings;
begin
  if char_length(reply_to) > 254
    or coalesce(reply_to, '') !~ '^([^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+)?$'
  then
    raise exception 'The reply address is one email address, or blank.' using errcode = '22023';
  end if;
  select * into former from private.letter_settings for update;
  kept := former;
  kept.version := desk_set_letters.version + 1;
  kept.reply_to := coalesce(desk_set_letters.reply_to, '');
  kept.receipts := coalesce(desk_set_letters.receipts, former.receipts);
  if former.version = desk_set_letters.version then
    update private.letter_settings as settings
      set version = kept.version, reply_to = kept.reply_to, receipts = kept.receipts;
    if kept.reply_to <> former.reply_to then
      perform private.write_down_letters(me.email, jsonb_build_object('reply_to', kept.reply_to));
    end if;
    if kept.receipts <> former.receipts then
      perform private.write_down_letters(me.email, jsonb_build_object('receipts', kept.receipts));
    end if;
  elsif kept is distinct from former then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return jsonb_build_object('version', kept.version, 'reply_to', kept.reply_to, 'receipts', kept.receipts);
end
$$;

-- Ends recalled deliveries whose server was lost, and cancels receipts that were not sent within a day.
create function private.end_lost_deliveries() returns void
  language plpgsql set search_path = ''
as $$
declare
  lost uuid[] := array(
    select id from private.deliveries
    where kind in ('letter', 'decision', 'receipt') and state = 'sending' and recalled_at is not null
      and (due_at <= now() or due_at > now() + interval '27 hours')
  );
begin
  -- All at once, in the order of locks.
  perform private.lock_letters(lost);
  perform private.record_delivery(id, attempts, 'waiting', is_uncertain => true) from private.deliveries where id = any (lost);
  perform private.recall(array(
    select id from private.deliveries
    where kind = 'receipt' and due_at <= now() and queued_at <= now() - interval '1 day'
    for update skip locked
  ));
end
$$;

revoke all on function private.end_lost_deliveries() from public, anon, authenticated;

-- Adds what a server counted to today: `counts` has the visits and starts of each source. A day has at most 200 different names,
-- and all servers together keep to that.
create function private.count_visits(counts jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  today date := private.today();
  room integer;
begin
  -- One batch after the other, so that two servers neither pass the limit together nor deadlock.
  lock table private.visits in share row exclusive mode;
  select 200 - count(*) into room from private.visits where day = today and source not in ('', 'other');
  insert into private.visits as stored (day, source, visits, starts)
    select today, case when is_known or position <= room then source else 'other' end, sum(visits), sum(starts)
    from (
      select batch.*, is_known, row_number() over (partition by is_known order by batch.visits desc, source) as position
      from jsonb_to_recordset(counts) as batch (source text, visits integer, starts integer)
        cross join lateral (
          select source in ('', 'other')
            or exists (select from private.visits as former where former.day = today and former.source = batch.source)
        ) as known (is_known)
    ) as numbered
    group by 2
  on conflict (day, source) do update
    set visits = stored.visits + excluded.visits, starts = stored.starts + excluded.starts;
end
$$;

revoke all on function private.count_visits(jsonb) from public, anon, authenticated;

-- The last 90 days, the oldest first: visits, starts, and applications that are not put aside. The 20 sources with the most visits
-- in these days. `is_counted`: whether a server has ever counted.
create function public.desk_visits() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  zone text;
  today date;
  first_day date;
begin
  perform private.caller();
  zone := (select coalesce(places.zone, 'UTC') from private.places);
  today := private.today();
  first_day := today - 89;
  return jsonb_build_object(
    'is_counted', exists (select from private.visits),
    'days', (
      select jsonb_agg(jsonb_build_object('day', day, 'visits', coalesce(counted.visits, 0),
        'starts', coalesce(counted.starts, 0), 'applications', received - put_aside) order by day)
      from (select first_day + number as day from generate_series(0, 89) as number) as days
        left join (
          select visits.day, sum(visits.visits) as visits, sum(visits.starts) as starts
          from private.visits where visits.day between first_day and today group by 1
        ) as counted using (day)
        -- A range of two indexes for each day.
        cross join lateral (
          select day::timestamp at time zone zone as begins, (day + 1)::timestamp at time zone zone as ends
        ) as bounds
        cross join lateral (
          select count(*) as received from public.retreat_applications where created_at >= begins and created_at < ends
        ) as applied
        cross join lateral (
          select count(*) as put_aside from private.statuses
          where status = 'aside' and created_at >= begins and created_at < ends
        ) as aside
    ),
    'sources', (
      select coalesce(jsonb_agg(jsonb_build_object('source', source, 'visits', total) order by total desc, source), '[]')
      from (
        select source, sum(visits.visits) as total from private.visits where day between first_day and today
        group by 1 having sum(visits.visits) > 0 order by total desc, source limit 20
      ) as most
    )
  );
end
$$;

revoke all on function public.desk_visits() from public, anon, authenticated;
grant execute on function public.desk_visits() to authenticated;

drop function private.accepted_by(text);

drop function private.answer_shown(uuid);

drop function private.answer_state(boolean, timestamp with time zone, date, text, date);

drop function private.answers(retreat_applications, boolean);

drop function private.begin_wait();

drop function private.beginnings(jsonb);

drop function private.counts(jsonb, boolean);

drop function private.day_shown(date);

drop function private.detail_shown(text, jsonb, boolean);

drop function private.draft(uuid, text, boolean);

drop function private.has_answer(uuid, text, date);

drop function private.has_day(text);

drop function private.hits(tsquery, boolean);

drop function private.is_day_over(uuid);

drop function private.is_reminded(uuid);

drop function private.keep_place(uuid, text);

drop function private.letter_page(uuid[], boolean);

drop function private.letters_shown(uuid[], boolean);

drop function private.lock_acceptance(uuid);

drop function private.missing_in(text, uuid);

drop function private.no_answer();

drop function private.place(uuid, jsonb, boolean);

drop function private.place_answers(uuid);

drop function private.receipts_since();

drop function private.retry(uuid[]);

drop function private.search_octets(text, text, text, text, text, text, text);

drop function private.search_query(text);

drop function private.search_vectors_of(retreat_applications);

drop function private.set_answer(uuid, uuid, text, text);

drop function private.settle_restored_letters();

drop function private.to_send(uuid, text, text, text);

drop function private.whole(uuid, boolean);

drop function private.with_place(text, text, date);

drop function private.write_answer_notices(uuid, uuid);
