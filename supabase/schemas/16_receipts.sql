-- Receipts: mails to applicants, where organisers switched them on. No application is refused or waits because of them.

-- The mailbox of an address, however the address is written; null where that cannot be told: for addresses that a mail server
-- may forward (`ada%example.com@example.org`), for quoted names, and for names and domains beyond ASCII.
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

-- A receipt that was released before this moment is too old to leave.
create function private.receipts_since() returns timestamptz
  language sql stable
  return now() - interval '1 day';

-- Writes a receipt: at most one a day to a mailbox, however its address is written, and twenty to a domain, so that
-- nobody fills a company's mailboxes. Nothing here waits for another insert: where two for one domain come at the same
-- moment, one of them is enough.
create function private.write_receipt(application public.retreat_applications) returns void
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
  perform from private.deliveries
    where mailbox = whose and queued_at > now() - interval '1 day' and queued_at <= clock_timestamp();
  if found then return; end if;
  perform from private.deliveries
    where domain = company
      and queued_at > now() - interval '1 day' and queued_at <= clock_timestamp()
    offset case when is_provider then 999 else 19 end limit 1;
  if found then return; end if;
  select * into template from private.templates where kind = 'receipt';
  text := private.receipt(template.subject, template.body, application.first_name);
  insert into private.deliveries (kind, application_id, subject, body, mailbox, domain)
    values ('receipt', application.id, text ->> 'subject', text ->> 'body', whose, company);
end
$$;

-- Cancels the receipt of somebody who gets a letter.
create function private.withdraw_receipt(application uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.recall(array(
    select id from private.deliveries
    where application_id = application and kind = 'receipt' and state = 'waiting' for update
  ));
end
$$;

-- Ends letters that were recalled and whose server was lost, and cancels receipts that were not sent within a day.
create function private.keep_letters() returns void
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
  perform private.record_delivery(id, attempts, 'waiting', arrived => true) from private.deliveries where id = any (lost);
  perform private.recall(array(
    select id from private.deliveries
    where kind = 'receipt' and due_at <= now() and queued_at <= private.receipts_since()
    for update skip locked
  ));
end
$$;
