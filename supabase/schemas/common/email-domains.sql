-- Domains of emails: the two forms of an international one, and those of mailbox providers.

-- The bias that RFC 3492 adapts after each character of a label.
create function private.punycode_bias(delta bigint, is_first boolean, points integer) returns integer
  language plpgsql immutable parallel safe
as $$
declare
  steps integer := 0;
begin
  delta := delta / case when is_first then 700 else 2 end;
  delta := delta + delta / points;
  while delta > 455 loop
    delta := delta / 35;
    steps := steps + 36;
  end loop;
  return steps + (36 * delta / (delta + 38))::integer;
end
$$;

-- A label of a domain in ASCII, as the Punycode of RFC 3492 after `xn--`; the label itself if it is ASCII.
create function private.ascii_label(label text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  digits constant text := 'abcdefghijklmnopqrstuvwxyz0123456789';
  codes integer[] := array(
    select ascii(one) from regexp_split_to_table(label, '') with ordinality as split (one, position) order by position);
  result text := regexp_replace(label, '[^\u0001-\u007f]', '', 'g');
  handled integer := char_length(result);
  first_handled constant integer := handled;
  next_code integer := 128;
  lowest integer;
  code integer;
  delta bigint := 0;
  bias integer := 72;
  rest bigint;
  threshold integer;
  base integer;
begin
  -- A longer label is none, and would take long.
  if handled = cardinality(codes) or cardinality(codes) > 63 then return label; end if;
  if handled > 0 then result := result || '-'; end if;
  while handled < cardinality(codes) loop
    lowest := (select min(each_one) from unnest(codes) as each_one where each_one >= next_code);
    delta := delta + (lowest - next_code)::bigint * (handled + 1);
    next_code := lowest;
    foreach code in array codes loop
      if code < next_code then
        delta := delta + 1;
      elsif code = next_code then
        rest := delta;
        base := 36;
        loop
          threshold := least(greatest(base - bias, 1), 26);
          exit when rest < threshold;
          result := result || substr(digits, (1 + threshold + (rest - threshold) % (36 - threshold))::integer, 1);
          rest := (rest - threshold) / (36 - threshold);
          base := base + 36;
        end loop;
        result := result || substr(digits, 1 + rest::integer, 1);
        bias := private.punycode_bias(delta, handled = first_handled, handled + 1);
        delta := 0;
        handled := handled + 1;
      end if;
    end loop;
    delta := delta + 1;
    next_code := next_code + 1;
  end loop;
  return 'xn--' || result;
end
$$;

-- The reverse of `private.ascii_label`; the label itself if it is no Punycode.
create function private.unicode_label(label text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  digits constant text := 'abcdefghijklmnopqrstuvwxyz0123456789';
  coded text := substring(lower(label), '^xn--(?:.*-)?([a-z0-9]+)$');
  result text := coalesce(substring(lower(label), '^xn--(.*)-[a-z0-9]+$'), '');
  code integer := 128;
  place bigint := 0;
  former bigint;
  bias integer := 72;
  weight bigint;
  threshold integer;
  base integer;
  digit integer;
begin
  if coded is null or char_length(label) > 63 then return label; end if;
  while coded <> '' loop
    former := place;
    weight := 1;
    base := 36;
    loop
      if coded = '' then return label; end if;
      digit := strpos(digits, left(coded, 1)) - 1;
      coded := substr(coded, 2);
      place := place + digit * weight;
      threshold := least(greatest(base - bias, 1), 26);
      exit when digit < threshold;
      weight := weight * (36 - threshold);
      base := base + 36;
      if weight > 1000000000 then return label; end if;
    end loop;
    bias := private.punycode_bias(place - former, former = 0, char_length(result) + 1);
    code := code + (place / (char_length(result) + 1))::integer;
    place := place % (char_length(result) + 1);
    if code > 1114111 or code between 55296 and 57343 then return label; end if;
    result := left(result, place::integer) || chr(code) || substr(result, place::integer + 1);
    place := place + 1;
  end loop;
  return result;
exception when numeric_value_out_of_range then
  return label;
end
$$;

-- An email with each label of its domain in ASCII, or as people read it. An index calls it with the rights of the applicant, who
-- may not use the schema of the functions in it.
create function private.email_with_labels(email text, is_unicode boolean) returns text
  language plpgsql immutable parallel safe security definer set search_path = ''
as $$
declare
  parts text[] := regexp_match(email, '^(.*@)([^@]+)$');
begin
  -- A domain has at most 253 characters, and none that shows nothing.
  if parts is null or char_length(parts[2]) > 253
    or parts[2] ~ '[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]'
  then
    return email;
  end if;
  return parts[1] || (
    select string_agg(case when is_unicode then private.unicode_label(label) else private.ascii_label(label) end, '.' order by position)
    from regexp_split_to_table(translate(normalize(lower(parts[2] collate "und-x-icu"), nfkc), '。', '.'), '\.')
      with ordinality as split (label, position)
  );
end
$$;

-- An email with its domain in ASCII, the form in which domains are compared and stored for the sign-in. Most are ASCII.
create function private.ascii_email(email text) returns text
  language sql immutable parallel safe
  return case when octet_length(email) = char_length(email) then email
    else private.email_with_labels(email, false) end;

-- An email with its domain as people read it.
create function private.unicode_email(email text) returns text
  language sql immutable parallel safe
  return case when email like '%xn--%' then private.email_with_labels(email, true) else email end;

-- Whether a domain is a provider's, at which many people have their mailbox. Sources: the wiki page "List of Popular Domains" of
-- mailcheck (https://github.com/mailcheck/mailcheck/wiki/List-of-Popular-Domains), and hey.com, the domains of Fastmail, Posteo,
-- mailbox.org and Proton. Some providers have a domain in most countries.
create function private.is_mailbox_provider(domain text) returns boolean
  language sql immutable parallel safe
  return domain ~ '^(?:aol|gmx|hotmail|live|outlook|yahoo|yandex)\.(?:com?\.[a-z]{2}|com|net|[a-z]{2})$' or domain = any (
    '{126.com,163.com,alice.it,aliyun.com,att.net,bell.net,bellsouth.net,bk.ru,bluewin.ch,bol.com.br,btinternet.com,charter.net,
    comcast.net,cox.net,daum.net,duck.com,earthlink.net,email.com,fastmail.com,fastmail.fm,foxmail.com,free.fr,freenet.de,
    globo.com,gmail.com,googlemail.com,hanmail.net,hey.com,hush.com,hushmail.com,icloud.com,ig.com.br,inbox.com,inbox.ru,
    juno.com,keemail.me,laposte.net,libero.it,list.ru,mac.com,mail.com,mail.ru,mailbox.org,me.com,msn.com,nate.com,naver.com,
    neuf.fr,ntlworld.com,online.de,orange.fr,pm.me,pobox.com,posteo.de,posteo.net,proton.me,protonmail.ch,protonmail.com,
    qq.com,rambler.ru,rocketmail.com,rogers.com,sbcglobal.net,sfr.fr,shaw.ca,sina.cn,sina.com,skynet.be,sky.com,sympatico.ca,
    t-online.de,talktalk.co.uk,telenet.be,terra.com.br,tin.it,tiscali.it,tuta.com,tuta.io,tutamail.com,tutanota.com,
    tutanota.de,uol.com.br,verizon.net,virgilio.it,virginmedia.com,wanadoo.fr,web.de,ya.ru,yeah.net,ymail.com,zoho.com}');
