-- Letters, receipts and notices on their way: what servers need to know of each other to carry them.

alter table private.postman
  -- Since when the mail server takes nothing from anybody; null while it does.
  add column failing_since timestamptz,
  -- How many claims there were: who claims has seen what all others did.
  add column turns bigint not null default 0;

-- Waits -----------------------------------------------------------------------------------------------------------

-- Every wait knows when it began: one that began later than now was put off by a clock that was set back.
create function private.begin_wait() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.waits_since := now();
  return new;
end
$$;

alter table private.letters
  add column waits_since timestamptz not null default now(),
  -- Tries at which the mail server closed the connection over it.
  add column closings integer not null default 0;
create trigger begin_wait before update of due_at on private.letters
  for each row when (new.due_at is distinct from old.due_at) execute function private.begin_wait();
create index letters_waits on private.letters (waits_since) where state in ('waiting', 'sending');
create index letters_sending on private.letters (application_id) where state = 'sending';

alter table private.notices
  add column waits_since timestamptz not null default now(),
  add column closings integer not null default 0,
  -- Tries of which nobody knows what they came to.
  add column uncertain integer not null default 0,
  -- The application that a letter which somebody tries out is filled in for: it goes with it.
  add column example_id uuid references public.retreat_applications (id) on delete cascade;
create trigger begin_wait before update of due_at on private.notices
  for each row when (new.due_at is distinct from old.due_at) execute function private.begin_wait();
create index notices_of_example on private.notices (example_id) where example_id is not null;

-- Null until it is tried: an insert has nothing to write here.
alter table private.webhook_outbox add column waits_since timestamptz;
create trigger begin_wait before update of next_attempt_at on private.webhook_outbox
  for each row when (new.next_attempt_at is distinct from old.next_attempt_at) execute function private.begin_wait();
create index webhook_outbox_waits on private.webhook_outbox (waits_since)
  where next_attempt_at is not null and waits_since is not null;

-- What is due is found at once, also where a plan is made for the very values: an index for each kind.
drop index private.letters_due, private.notices_due;
create index letters_due on private.letters (due_at)
  where way = 'mail' and occasion <> 'received' and state in ('waiting', 'sending');
create index receipts_due on private.letters (due_at)
  where way = 'mail' and occasion = 'received' and state in ('waiting', 'sending');
create index decisions_due on private.letters (due_at) where way = 'automation' and state in ('waiting', 'sending');
create index notices_due on private.notices (due_at) where body is null and due_at is not null;
create index tests_due on private.notices (due_at) where body is not null and due_at is not null;

-- What a stranger wrote ---------------------------------------------------------------------------------------------

-- A name as a receipt or a notice may have it; null where it may be more than a name.
create function private.plain_name(given text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  name text := btrim(given);
  -- As it looks: `１` and `①` are 1, and a wide dot is a dot.
  seen text;
begin
  if name = '' or char_length(name) > 40 then return null; end if;
  seen := normalize(name, nfkc);
  return case when
    -- Nothing that a mail program makes a link of, nor what turns the writing round.
    seen !~ '[[:cntrl:].:/\\@<>\u0085\u2028-\u202e\u2066-\u2069]' and seen !~* '^www'
    -- What looks like a dot, a colon or a slash.
    and seen !~ '[\u00b7\u02d0\u0323\u0589\u05c3\u06d4\u0701\u0702\u0964\u1362\u166e\u16eb\u1803\u1809\u2022\u2027\u2044\u2215\u2219\u2236\u22c5\u2571\u25cf\u2981\u29f8\u2cf9\u2cfe\u2e31\u2e33\u2e3c\u3002\u30fb\ua4f8\ua60e\ua6f3\ua789\ua78f\U00010101\U00010a50\U0001d16d]'
    -- No telephone number, and no sentence.
    and seen collate "und-x-icu" !~ '[[:digit:]]'
    and cardinality(regexp_split_to_array(seen, '[\s\u00ad\u115f\u1160\u1680\u180e\u200b\u2060\u2800\ufeff]+')) <= 4
    then name end;
end
$$;

-- A receipt's subject and body. Whoever fills in the form may give a stranger's address: nothing of what they wrote
-- goes there but a first name that is one. Where it is none, it is left out with the blank before it.
create or replace function private.receipt(subject text, body text, first_name text) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  name text := private.plain_name(first_name);
  head record;
  rest record;
begin
  if name is null then
    subject := regexp_replace(subject, '[ \t]*\{\{\s*first_name\s*\}\}', '', 'g');
    body := regexp_replace(body, '[ \t]*\{\{\s*first_name\s*\}\}', '', 'g');
  end if;
  head := private.fill(subject, jsonb_build_object('first_name', name));
  rest := private.fill(body, jsonb_build_object('first_name', name));
  return jsonb_build_object('subject', btrim(head.filled), 'body', rest.filled, 'missing', '[]'::jsonb,
    'unknown', to_jsonb(array(select distinct unnest(head.unknown || rest.unknown) order by 1)));
end
$$;

-- Whose mailbox an address leads to, however it is written; null where that cannot be told, as of what a mail server may
-- send on (`ada%example.com@example.org`), of quoted names, and of names and domains in other letters than ASCII's.
create function private.mailbox(email text) returns text
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
  -- What these do not tell apart.
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

alter table private.letters
  -- Of a receipt: whose mailboxes these are, a company's or a provider's.
  add column domain text;
create index letters_domain on private.letters (domain, released_at) where domain is not null;

-- Writes a receipt: at most one a day to a mailbox, however its address is written, and twenty to a domain, so that
-- nobody fills a company's mailboxes. Nothing here waits for another insert: where two for one domain come at the same
-- moment, one of them is enough.
create or replace function private.write_receipt(application public.retreat_applications) returns void
  language plpgsql set search_path = ''
as $$
declare
  whose text := private.mailbox(application.email);
  -- With one label more where the last two are no company's: `example.co.uk`.
  company text := substring(split_part(whose, '@', 2) from '[^.]+\.(?:[^.]{1,3}\.[a-z]{2}|[^.]+)$');
  -- Where everybody has a mailbox.
  is_provider boolean := company = any ('{163.com,aol.com,gmail.com,gmx.at,gmx.ch,gmx.com,gmx.de,gmx.net,hotmail.com,
    icloud.com,live.com,mail.ru,msn.com,naver.com,outlook.com,proton.me,qq.com,web.de,yahoo.com,yandex.ru,ymail.com}');
  template private.templates;
  text jsonb;
begin
  if whose is null
    or not pg_try_advisory_xact_lock(hashtextextended(case when is_provider then whose else company end, 0))
  then
    return;
  end if;
  -- Statements of their own: they see what was there when the lock was had. What is later than now was released before
  -- a clock was set back.
  perform from private.letters as letter
    where mailbox = whose and released_at > now() - interval '1 day' and released_at <= clock_timestamp();
  if found then return; end if;
  perform from private.letters as letter
    where domain = company
      and released_at > now() - interval '1 day' and released_at <= clock_timestamp()
    offset case when is_provider then 999 else 19 end limit 1;
  if found then return; end if;
  select * into template from private.templates where occasion = 'received';
  text := private.receipt(template.subject, template.body, application.first_name);
  insert into private.letters (application_id, occasion, state, subject, body, mailbox, domain, released_at, due_at)
    values (application.id, 'received', 'waiting', text ->> 'subject', text ->> 'body', whose, company, now(), now());
end
$$;

-- Tells the organisers who hear of each application; of more than ten an hour the day's mail tells.
create or replace function private.write_notices(application uuid) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.notices (organiser_id, application_id)
      select account_id, write_notices.application from private.organisers as organiser
      where notices = 'each' and (
        select count(*) from private.notices as notice
        where organiser_id = account_id and application_id is not null
          and notice.created_at > now() - interval '1 hour' and notice.created_at <= clock_timestamp()
      ) < 10;
  end;

revoke all on function private.begin_wait(), private.plain_name(text), private.mailbox(text) from public, anon, authenticated;
