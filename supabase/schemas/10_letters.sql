-- Letters to applicants: their texts, and their states.

-- One row: what organisers set for all letters.
create table private.letter_settings (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  -- Where answers go; blank: to the sender.
  reply_to text not null default '',
  -- How long a released letter waits, in which it can be stopped.
  hold interval not null default '1 minute',
  -- Whether whoever applies is sent a receipt.
  receipts boolean not null default false
);
insert into private.letter_settings default values;
alter table private.letter_settings enable row level security;

-- One row: the state of the postman, a server that hands letters over to a mail server.
create table private.postman (
  is_only boolean primary key default true check (is_only),
  -- Organisers let nothing leave.
  stopped boolean not null default false,
  -- When one was last at work.
  seen_at timestamptz not null default '-infinity',
  -- When the next letter may leave, whichever server carries it.
  next_at timestamptz not null default '-infinity',
  -- What keeps all letters, such as a mail server that is not there: since how many tries, and when the next one is.
  failures integer not null default 0,
  paused_until timestamptz not null default '-infinity',
  problem text not null default '',
  -- When a server was last at work that tells an automation of decisions.
  automation_seen_at timestamptz not null default '-infinity',
  -- How many receipts and notices were begun in the hour from then on.
  hour_began_at timestamptz not null default '-infinity',
  in_hour integer not null default 0,
  -- Since when the mail server takes nothing from anybody; null while it does.
  failing_since timestamptz,
  -- When an organiser asked how the mail server and the sender's domain are, when a server began to look, and when it
  -- had, and what it found.
  check_wanted_at timestamptz not null default '-infinity',
  check_begun_at timestamptz not null default '-infinity',
  checked_at timestamptz not null default '-infinity',
  findings jsonb not null default '[]'
);

-- Whether something was in the last minute: who was heard of then is at work, and what was wanted then is waited for.
create function private.is_recent(moment timestamptz) returns boolean
  language sql stable
  return moment > now() - interval '1 minute';
insert into private.postman default values;
alter table private.postman enable row level security;

-- A letter to an applicant, once for each application, occasion, edition and way.
create table private.letters (
  id uuid primary key default gen_random_uuid(),
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  -- Blank: a letter to one person, which has no template.
  occasion text not null,
  -- Higher than 1 where somebody sends again what was sent; letters to one person are counted.
  edition integer not null default 1,
  state text not null check (state in ('draft', 'waiting', 'sending', 'sent', 'refused', 'given up', 'withdrawn')),
  -- Of a draft: what somebody made of it, null where it is as the template has it. Once released: what is sent.
  subject text,
  body text,
  created_at timestamptz not null default now(),
  -- Who released it, and by which act; and the decision that stood, without which it does not leave.
  author text,
  act uuid,
  released_at timestamptz,
  status_version integer,
  -- When it is to be tried; while it is being tried, when another server may take it for lost.
  due_at timestamptz,
  attempts integer not null default 0,
  -- Tries of which nobody knows what they came to: the letter may have arrived.
  uncertain integer not null default 0,
  sent_at timestamptz,
  withdrawn_at timestamptz,
  -- What the mail server said last.
  answer text not null default '',
  -- By the automation where a server tells it of decisions: beside the letter, or in its place.
  way text not null default 'mail' check (way in ('mail', 'automation')),
  -- Of a receipt: whose it is, however the address was written.
  mailbox text,
  -- Counts the changes of a draft.
  version integer not null default 0,
  -- Whether it was released as its template had it: stopped, it follows the template again.
  from_template boolean not null default false,
  -- Who stopped it, or took the draft away; null where another decision did.
  withdrawn_by text,
  -- Since when `due_at` is what it is.
  waits_since timestamptz not null default now(),
  -- Tries at which the mail server closed the connection over it.
  closings integer not null default 0,
  -- Of a receipt: whose mailboxes these are, a company's or a provider's.
  domain text,
  -- How it was sent where no server did: from an organiser's own mail program, or told otherwise than by a letter.
  otherwise text check (otherwise in ('by hand', 'told')),
  check ((state = 'sent') = (sent_at is not null)),
  check (state in ('draft', 'withdrawn') or (subject is not null and body is not null and released_at is not null)),
  check ((state in ('waiting', 'sending')) = (due_at is not null))
);
alter table private.letters enable row level security;

create unique index letters_once on private.letters (application_id, occasion, edition, way)
  where state <> 'withdrawn';
create index letters_of_application on private.letters (application_id);
create index letters_of_act on private.letters (act);
-- Finds what is still to be done at once, however many letters were sent.
create index letters_drafts on private.letters (occasion, created_at, id) where state = 'draft';
create index letters_waiting on private.letters (released_at desc, id desc) where state in ('waiting', 'sending');
create index letters_waits on private.letters (waits_since) where state in ('waiting', 'sending');
create index letters_sending on private.letters (application_id) where state = 'sending';
create index letters_problems on private.letters (state, released_at desc, id) where state in ('refused', 'given up');
-- Finds what is due, with an index for each kind. Not by its state: where nothing waited when the statistics were taken, any
-- index of those that wait seems as good, and PostgreSQL would read and sort all of them for each letter.
create index letters_due on private.letters (due_at)
  where way = 'mail' and occasion <> 'received' and due_at is not null;
create index receipts_due on private.letters (due_at)
  where way = 'mail' and occasion = 'received' and due_at is not null;
create index decisions_due on private.letters (due_at) where way = 'automation' and due_at is not null;
-- Finds the receipts that a mailbox got.
create index letters_mailbox on private.letters (mailbox, released_at) where mailbox is not null;
create index letters_domain on private.letters (domain, released_at) where domain is not null;

-- Every wait stores when it began: one that began later than now is from before the clock was set back.
create function private.begin_wait() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.waits_since := now();
  return new;
end
$$;

create trigger begin_wait before update of due_at on private.letters
  for each row when (new.due_at is distinct from old.due_at) execute function private.begin_wait();

-- Whether a letter is what an applicant was written: by mail, or where there was none by the automation. As text: newer
-- minor versions of PostgreSQL refuse a new column of a table whose row type an expression of the catalogue uses.
create function private.is_to_applicant(letter private.letters) returns boolean
  language sql stable set search_path = ''
as $$
  select letter.way = 'mail' or not exists (
    select from private.letters as mail
    where mail.application_id = letter.application_id and mail.act = letter.act and mail.way = 'mail'
  )
$$;

-- How a letter stands, and what brings it there. It begins as a draft, or as `waiting`: a receipt, or what an automation is
-- told beside a letter.
--
-- | from             | to        | by                                                                                 |
-- | ---------------- | --------- | ---------------------------------------------------------------------------------- |
-- | draft            | waiting   | an organiser releases it: it is due, and can be stopped until it leaves            |
-- | draft            | sent      | an organiser sent it from their own mail program                                   |
-- | draft            | withdrawn | an organiser takes it or its template away, or another decision does               |
-- | waiting          | sending   | a server takes it upon itself, for as long as its lease                            |
-- | waiting          | withdrawn | an organiser stops it, another decision does, or nobody needs it: a receipt, a      |
-- |                  |           | reminder                                                                            |
-- | sending          | sending   | a server takes it whose lease ran out: nobody knows what became of that try        |
-- | sending          | waiting   | it is tried again later                                                            |
-- | sending          | sent      | the mail server took it, or the automation                                         |
-- | sending          | refused   | the mail server refused it for good                                                |
-- | sending          | given up  | it was tried often enough, or the day until which it asks is over                  |
-- | sending          | withdrawn | a receipt that is too late; or instead of `waiting`, `refused` and `given up` where |
-- |                  |           | another decision came meanwhile, or the answer that a reminder asks for             |
-- |                  |           | (`withdrawn_at`), which takes back nothing that left                                |
-- | refused, given up | waiting  | an organiser or the operator tries again, or gives another address                 |
-- | refused, given up | sent     | an organiser told it otherwise                                                     |
-- | refused, given up | withdrawn | another decision, or the answer that a reminder asks for                          |
-- | withdrawn        | draft     | what it says is decided or asked for again                                         |
--
-- Nothing else sets a state. Whoever calls has locked the letters.
--
-- `due`: of those that are to wait or to be sent, until when. `author`: who withdraws them, null where a decision does.
-- `is_lost`: their server died at a try.
create function private.move(
  wanted uuid[], state text, due timestamptz default null, author text default null, is_lost boolean default false
) returns setof private.letters
  language plpgsql rows 1 set search_path = ''
as $$
declare
  each_one uuid;
  letter private.letters;
  target text;
  is_retried boolean;
begin
  -- One after the other: a query of all of them would be planned anew for each letter that leaves.
  foreach each_one in array wanted loop
    select * into letter from private.letters where id = each_one for update;
    continue when not found;
    target := case
      when letter.state = 'sending' and letter.withdrawn_at is not null
        and move.state in ('waiting', 'refused', 'given up') then 'withdrawn'
      else move.state
    end;
    continue when (letter.state, target) not in (
      ('draft', 'waiting'), ('draft', 'sent'), ('draft', 'withdrawn'), ('waiting', 'sending'), ('waiting', 'withdrawn'),
      ('sending', 'sending'), ('sending', 'waiting'), ('sending', 'sent'), ('sending', 'refused'),
      ('sending', 'given up'), ('sending', 'withdrawn'), ('refused', 'waiting'), ('refused', 'sent'),
      ('refused', 'withdrawn'), ('given up', 'waiting'), ('given up', 'sent'), ('given up', 'withdrawn'),
      ('withdrawn', 'draft')
    );
    is_retried := letter.state in ('refused', 'given up') and target = 'waiting';
    update private.letters as moved set
      state = target,
      due_at = case when target in ('waiting', 'sending') then due end,
      attempts = case when is_retried then 0 when target = 'sending' then moved.attempts + 1 else moved.attempts end,
      uncertain = moved.uncertain + (letter.state = 'sending' and (is_lost or target = 'sending'))::integer,
      answer = case when is_retried or target = 'sent' then '' else moved.answer end,
      sent_at = case when target = 'sent' then now() end,
      withdrawn_at = case target
        when 'draft' then null when 'withdrawn' then coalesce(moved.withdrawn_at, now()) else moved.withdrawn_at
      end,
      withdrawn_by = case target when 'draft' then null when 'withdrawn' then move.author else moved.withdrawn_by end
      where id = each_one returning * into letter;
    return next letter;
  end loop;
end
$$;

-- Makes the draft of an occasion, unless there is one, or a letter that has left or is to leave. One that was withdrawn
-- before it was released comes back as it was. `again`: also where it was sent before.
create function private.draft(application uuid, occasion text, again boolean default false) returns uuid
  language plpgsql set search_path = ''
as $$
declare
  former integer;
  told text;
  told_before integer;
  told_last text;
  made uuid;
begin
  if exists (
    select from private.letters as letter
    where application_id = application and letter.occasion = draft.occasion
      and state not in ('sent', 'withdrawn') and private.is_to_applicant(letter)
  ) or draft.occasion = 'reminder' and private.is_reminded(application) then
    return null;
  end if;
  select max(edition) into former
    from private.letters as letter
    where application_id = application and letter.occasion = draft.occasion and state = 'sent'
      and private.is_to_applicant(letter);
  -- What they were told last need not be told again; what they were told before something else has to be. Something that
  -- may have arrived was told.
  select letter.occasion into told
    from private.letters as letter
    where application_id = application and (state = 'sent' or uncertain > 0) and private.is_to_applicant(letter)
      and private.is_decision(letter.occasion)
    order by coalesce(sent_at, withdrawn_at, released_at) desc limit 1;
  if not again and former is not null and (told = draft.occasion or not private.is_decision(draft.occasion)) then
    return null;
  end if;
  -- An automation that was told something else since is told anew.
  select max(edition) filter (where letter.occasion = draft.occasion),
      (array_agg(letter.occasion order by sent_at desc))[1] into told_before, told_last
    from private.letters as letter
    where application_id = application and way = 'automation' and state = 'sent';
  if told_last <> draft.occasion then former := greatest(former, told_before); end if;
  update private.letters set edition = coalesce(former, 0) + 1
    where id = (
      select id from private.letters as letter
      where application_id = application and letter.occasion = draft.occasion
        and state = 'withdrawn' and released_at is null
      order by withdrawn_at desc limit 1
    )
    returning id into made;
  perform private.move(array[made], 'draft');
  if made is null then
    insert into private.letters (application_id, occasion, edition, state)
      values (application, draft.occasion, coalesce(former, 0) + 1, 'draft')
      on conflict do nothing returning id into made;
  end if;
  return made;
end
$$;

-- Makes the draft of a letter to one person, without a template. The caller has locked the application.
create function private.draft_text(application uuid, subject text, body text, id uuid default gen_random_uuid())
  returns void
  language sql set search_path = ''
  begin atomic
    insert into private.letters (id, application_id, occasion, edition, state, subject, body)
      select draft_text.id, application, '', coalesce(max(edition), 0) + 1, 'draft', draft_text.subject, draft_text.body
      from private.letters where application_id = application and occasion = ''
      on conflict do nothing;
  end;

-- Withdraws what has not left of an application, and drafts what stands now. What a server is handing over this moment
-- is marked: if it comes back, it is not tried again. A receipt says nothing of decisions, and leaves. What somebody wrote
-- to one person is a draft again, or stays one.
create function private.redraft() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  letter private.letters;
begin
  for letter in select * from private.move(array(
    select id from private.letters
    where application_id = new.application_id and state not in ('sending', 'sent', 'withdrawn')
      and occasion <> 'received' and (occasion <> '' or state <> 'draft') for update
  ), 'withdrawn') loop
    if letter.occasion = '' then
      perform private.draft_text(letter.application_id, letter.subject, letter.body);
    end if;
  end loop;
  -- Behind that: what a server takes meanwhile is seen here.
  update private.letters set withdrawn_at = now()
    where application_id = new.application_id and state = 'sending' and occasion <> 'received';
  if private.is_decision(new.status) then
    perform private.draft(new.application_id, new.status);
  end if;
  return null;
end
$$;

-- Follows every change of a status, whoever makes it.
create trigger draft_first after insert on private.statuses
  for each row when (private.is_decision(new.status)) execute function private.redraft();
create trigger redraft after update of status on private.statuses
  for each row when (old.status <> new.status) execute function private.redraft();

-- A letter as it would be sent, or was. A draft's `seen` tells its text from others, by which whoever releases it says
-- what they read: of the template's text, which all organisers may read, a digest; of another, which may name somebody,
-- a number.
create function private.letter_text(letter private.letters, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
  template private.templates;
  text jsonb;
begin
  select * into given from public.retreat_applications where id = letter.application_id;
  select * into template from private.templates where occasion = letter.occasion;
  if letter.subject is null then
    text := private.filled(template.subject, template.body, given, blind);
  else
    -- What was written to somebody names them.
    text := jsonb_build_object(
      'subject', case when blind then '(hidden)' else letter.subject end,
      'body', case when blind then '(hidden)' else letter.body end,
      'missing', case when letter.state = 'draft'
        then private.missing_in(letter.subject || letter.body, letter.application_id) else '[]' end,
      'unknown', '[]'::jsonb, 'is_long', false
    );
  end if;
  return text || jsonb_build_object('seen', case
    when letter.state <> 'draft' then ''
    when letter.subject is null then md5(template.subject || E'\n' || template.body)
    else letter.version::text
  end);
end
$$;

-- The addresses by which organisers replaced those that applicants gave. All letters to an applicant go there.
create table private.addresses (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  address text not null
);
alter table private.addresses enable row level security;

-- The address of letters to an applicant: the one that they gave, or the one by which an organiser replaced it.
create function private.address_of(application uuid, given text) returns text
  language sql stable set search_path = ''
  begin atomic
    select coalesce((select address from private.addresses where application_id = application), given);
  end;

-- Letters as an organiser may see them, in the order of their ids.
create function private.letters_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.letter_text(letter, blind) || jsonb_build_object(
      'id', letter.id, 'application', application.id, 'occasion', letter.occasion, 'edition', letter.edition,
      'way', letter.way,
      'state', letter.state, 'is_edited', letter.state = 'draft' and letter.subject is not null,
      'to', case when not blind then private.address_of(application.id, application.email) end,
      'name', case when not blind then
        btrim(left(application.first_name, 200) || ' ' || left(application.last_name, 200)) end,
      'author', letter.author, 'act', letter.act, 'released_at', letter.released_at, 'due_at', letter.due_at,
      'attempts', letter.attempts, 'uncertain', letter.uncertain, 'sent_at', letter.sent_at,
      'withdrawn_at', letter.withdrawn_at, 'withdrawn_by', letter.withdrawn_by,
      'answer', case when not blind then letter.answer else '' end, 'otherwise', letter.otherwise
    ) order by place), '[]')
  from unnest(ids) with ordinality as shown (id, place)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

-- The letters of some applications, the oldest first, without those that were withdrawn before they were released.
create function private.letters_of(applications uuid[], blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return private.letters_shown(array(
    select id from private.letters
    where application_id = any (applications) and (state <> 'withdrawn' or released_at is not null)
    order by created_at, id
  ), blind);
end
$$;

-- The states of the letters of some applications, without their texts, the oldest first.
create function private.letter_states(applications uuid[]) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state, 'otherwise', otherwise) order by created_at, id), '[]')
    from private.letters
    where application_id = any (applications) and state not in ('draft', 'withdrawn')
  );
end
$$;

-- Every act on letters locks templates, then applications, then their statuses, each in one order, before any letter. So only one
-- act at a time changes the letters of an application, and the order in which letters are locked does not matter.
create function private.lock_for_letters(applications uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from public.retreat_applications where id = any (applications) order by id for no key update;
  perform from private.statuses where application_id = any (applications) order by application_id for share;
end
$$;

-- The same for given letters, and their templates, which nobody can remove meanwhile.
create function private.lock_letters(letters uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from private.templates where occasion in (select occasion from private.letters where id = any (lock_letters.letters))
    order by occasion for key share;
  perform private.lock_for_letters(array(select application_id from private.letters where id = any (lock_letters.letters)));
  perform from private.letters where id = any (lock_letters.letters) order by id for update;
end
$$;

-- Refuses more applications or letters than one call may have.
create function private.check_number(given uuid[]) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if cardinality(given) > 1000 then
    raise exception 'At most 1,000 letters are acted on at once.' using errcode = '22023';
  end if;
end
$$;

-- Lets letters leave that were refused or given up, for the decision that stands; no receipt that is older than a day, and
-- nothing that asks until a day which is over, until an organiser moves that day. The result counts those that are on their
-- way, or arrived.
create function private.retry(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.move(array(
    select id from private.letters as letter
    where id = any (wanted) and state in ('refused', 'given up')
      and (occasion <> 'received' or released_at > private.receipts_since())
      and not private.is_overdue(letter)
  ), 'waiting', due => now());
  return (select count(*) from private.letters where id = any (wanted) and state in ('waiting', 'sending', 'sent'));
end
$$;

-- Whoever gets a letter needs no receipt any more.
create function private.withdraw_receipt(application uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.move(array(
    select id from private.letters
    where application_id = application and occasion = 'received' and state = 'waiting' for update
  ), 'withdrawn');
end
$$;

-- Settles the letters that a restore brought back. The database that the backup was taken from may have sent them since, so
-- somebody has to look: what was on its way is a draft again. Receipts, what was withdrawn on its way, and what an automation
-- was to be told beside a letter end here.
create function private.settle_restored_letters() returns void
  language plpgsql set search_path = ''
as $$
declare
  under_way uuid[];
begin
  perform private.move(array(
    select id from private.letters as letter
    where state in ('waiting', 'sending')
      and (occasion = 'received' or withdrawn_at is not null or not private.is_to_applicant(letter))
  ), 'withdrawn');
  under_way := array(select id from private.letters where state in ('waiting', 'sending'));
  perform private.move(under_way, 'withdrawn');
  perform private.move(under_way, 'draft');
  update private.letters set way = 'mail', released_at = null, act = null,
      subject = case when not from_template then subject end, body = case when not from_template then body end
    where state = 'draft' and released_at is not null;
  -- In older backups this was no column of its own: it was in the column of the mail server's answer.
  update private.letters set otherwise = case answer when 'sent by hand' then 'by hand' else 'told' end, answer = ''
    where state = 'sent' and answer in ('sent by hand', 'told otherwise');
end
$$;
