-- Receipts: emails to applicants, if organisers switched them on. No application is refused or delayed because of them.

-- Normalises an address to its mailbox. Null if the mailbox is unknown: for addresses that a mail server may forward
-- (`ada%example.com@example.org`), for quoted names, for names beyond ASCII, and for more than 254 characters.
create function private.mailbox(email text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  parts text[];
  name text;
  domain text;
begin
  email := private.ascii_email(private.trimmed(email));
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

-- A name, if a receipt or a notice may contain it; null if it is blank or long, or looks like a link or a message.
create function private.plain_name(typed_name text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  name text := private.trimmed(typed_name);
  -- The name as it looks to a reader: `１` and `①` are 1, and a wide dot is a dot.
  normalised text;
begin
  if name = '' or char_length(name) > 40 then return null; end if;
  normalised := normalize(name, nfkc);
  return case when
    -- No characters that become links or placeholders, or change the text's direction.
    normalised !~ '[[:cntrl:].:/\\@<>{}\u0085\u2028-\u202e\u2066-\u2069]' and normalised !~* '^www'
    -- No characters that look like a dot, a colon or a slash.
    and normalised !~ '[\u00b7\u02d0\u0323\u0589\u05c3\u06d4\u0701\u0702\u0964\u1362\u166e\u16eb\u1803\u1809\u2022\u2027\u2044\u2215\u2219\u2236\u22c5\u2571\u25cf\u2981\u29f8\u2cf9\u2cfe\u2e31\u2e33\u2e3c\u3002\u30fb\ua4f8\ua60e\ua6f3\ua789\ua78f\U00010101\U00010a50\U0001d16d]'
    -- No telephone number, and no sentence.
    and normalised collate "und-x-icu" !~ '[[:digit:]]'
    and cardinality(regexp_split_to_array(normalised, '[\s\u00ad\u115f\u1160\u1680\u180e\u200b\u2060\u2800\ufeff]+')) <= 4
    then name end;
end
$$;

-- A receipt's subject and body. The address may be a stranger's, so only a plain first name from the form is used. Otherwise the
-- placeholder is removed with the space before it. The other placeholders are the retreat's name, and the link to withdraw, which is
-- filled in at the handover.
create function private.receipt(subject text, body text, first_name text, edition integer) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  name text := private.plain_name(first_name);
  placeholder_values jsonb := jsonb_build_object(
    'first_name', name, 'withdraw_link', '{{withdraw_link}}', 'retreat', private.retreat_placeholders(edition) -> 'retreat');
  head record;
  rest record;
begin
  if name is null then
    subject := regexp_replace(subject, '[ \t]*\{\{\s*first_name\s*\}\}', '', 'g');
    body := regexp_replace(body, '[ \t]*\{\{\s*first_name\s*\}\}', '', 'g');
  end if;
  head := private.fill(subject, placeholder_values);
  rest := private.fill(body, placeholder_values);
  return jsonb_build_object('subject', btrim(head.filled), 'body', rest.filled, 'missing', '[]'::jsonb,
    'unknown', to_jsonb(array(select distinct unnest(head.unknown || rest.unknown) order by 1)));
end
$$;

-- Writes a receipt: at most one a day to a mailbox, in any spelling of its address, and twenty to a domain, so that nobody can
-- flood a company's mailboxes. The domain of a public mail provider gets a thousand. If two inserts for one domain run at once,
-- one skips its receipt instead of waiting.
create function private.write_receipt(application public.retreat_applications) returns void
  language plpgsql set search_path = ''
as $$
declare
  recipient text := private.mailbox(application.email);
  -- Three labels for domains such as `example.co.uk`.
  company text := substring(split_part(recipient, '@', 2) from '[^.]+\.(?:[^.]{1,3}\.[a-z]{2}|[^.]+)$');
  is_provider boolean := private.is_mailbox_provider(company);
  template private.templates;
  text jsonb;
begin
  if recipient is null
    or not pg_try_advisory_xact_lock(5610750, hashtext(case when is_provider then recipient else company end))
  then
    return;
  end if;
  -- Separate statements, so that they see what was committed before the lock was taken.
  perform from private.deliveries
    where mailbox = recipient and private.happened_within(queued_at, '1 day');
  if found then return; end if;
  perform from private.deliveries
    where domain = company and private.happened_within(queued_at, '1 day')
    offset case when is_provider then 999 else 19 end limit 1;
  if found then return; end if;
  select * into template from private.templates where name = 'received';
  text := private.receipt(template.subject, template.body, application.first_name, application.edition);
  insert into private.withdrawal_links (application_id) values (application.id);
  insert into private.deliveries (kind, application_id, subject, body, mailbox, domain)
    values ('receipt', application.id, text ->> 'subject', text ->> 'body', recipient, company);
end
$$;

-- Subject and body of a receipt as it is handed over, and the link in it.
create function private.fill_receipt(application uuid, inout subject text, inout body text, out link text)
  language plpgsql stable set search_path = ''
as $$
declare
  own_link constant text := private.withdrawal_link(application);
begin
  if body ~ '\{\{\s*withdraw_link\s*\}\}' then link := own_link; end if;
  subject := private.with_link(subject, 'withdraw_link', coalesce(own_link, ''));
  body := private.with_link(body, 'withdraw_link', own_link);
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
