-- No dot within a sentence of a new database's templates. Where people have applied, all texts stay as they are.
update private.templates set body = replace(replace(body,
    'to Unplugged. is accepted', 'to Unplugged is accepted'), 'to Unplugged.? We', 'to Unplugged? We')
  where name in ('accepted', 'reminder') and not exists (select from public.retreat_applications);

-- Bodies that are texts, so that the table can get columns.
create or replace function private.may_leave(postman private.postman, pace interval) returns boolean
  language sql stable
as $$
  select not postman.stopped
    and (postman.paused_until <= now()
      or postman.paused_until > clock_timestamp() + private.mail_back_off(postman.failures))
    and (pace is null or postman.next_at <= now() or postman.next_at > clock_timestamp() + pace)
$$;
create or replace function private.has_room(postman private.postman) returns boolean
  language sql stable
as $$
  select postman.in_hour < 100 or postman.hour_began_at not between now() - interval '1 hour' and clock_timestamp()
$$;

-- What the mail server refused for a reason that may be about all emails (docs/decisions/0072).
alter table private.postman
  add column suspects uuid[] not null default '{}',
  add column refused_at timestamptz not null default '-infinity';

-- The successors of `folded` and `search_vector`, which stay as they are while the search index uses them. The next files build
-- an index with the successors, and then give them the names (docs/decisions/0073).
create function private.folded_letters(said text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  -- What Unicode does not decompose, as in PostgreSQL's unaccent.rules, and the sigma at the end of a word. Without the `cast`,
  -- each call would parse the text.
  letters constant jsonb := cast('{
    "ß":"ss", "æ":"ae", "ð":"d", "ø":"o", "þ":"th", "đ":"d", "ħ":"h", "ı":"i", "ĸ":"q", "ł":"l", "ŋ":"n", "œ":"oe", "ŧ":"t",
    "ƀ":"b", "ƃ":"b", "ƈ":"c", "ƌ":"d", "ƒ":"f", "ƕ":"hv", "ƙ":"k", "ƚ":"l", "ƞ":"n", "ƣ":"oi", "ƥ":"p", "ƫ":"t", "ƭ":"t",
    "ƴ":"y", "ƶ":"z", "ǥ":"g", "ȡ":"d", "ȥ":"z", "ȴ":"l", "ȵ":"n", "ȶ":"t", "ȷ":"j", "ȸ":"db", "ȹ":"qp", "ȼ":"c", "ȿ":"s",
    "ɀ":"z", "ɇ":"e", "ɉ":"j", "ɍ":"r", "ɏ":"y", "ɓ":"b", "ɕ":"c", "ɖ":"d", "ɗ":"d", "ɛ":"e", "ɟ":"j", "ɠ":"g", "ɡ":"g", "ɢ":"g",
    "ɦ":"h", "ɧ":"h", "ɨ":"i", "ɩ":"i", "ɪ":"i", "ɫ":"l", "ɬ":"l", "ɭ":"l", "ɱ":"m", "ɲ":"n", "ɳ":"n", "ɴ":"n", "ɶ":"oe", "ɼ":"r",
    "ɽ":"r", "ɾ":"r", "ʀ":"r", "ʂ":"s", "ʈ":"t", "ʉ":"u", "ʋ":"v", "ʏ":"y", "ʐ":"z", "ʑ":"z", "ʙ":"b", "ʛ":"g", "ʜ":"h", "ʝ":"j",
    "ʟ":"l", "ʠ":"q", "ʣ":"dz", "ʥ":"dz", "ʦ":"ts", "ʪ":"ls", "ʫ":"lz", "ς":"σ", "ᴀ":"a", "ᴁ":"ae", "ᴃ":"b", "ᴄ":"c", "ᴅ":"d",
    "ᴆ":"d", "ᴇ":"e", "ᴊ":"j", "ᴋ":"k", "ᴌ":"l", "ᴍ":"m", "ᴏ":"o", "ᴘ":"p", "ᴛ":"t", "ᴜ":"u", "ᴠ":"v", "ᴡ":"w", "ᴢ":"z", "ᵫ":"ue",
    "ᵬ":"b", "ᵭ":"d", "ᵮ":"f", "ᵯ":"m", "ᵰ":"n", "ᵱ":"p", "ᵲ":"r", "ᵳ":"r", "ᵴ":"s", "ᵵ":"t", "ᵶ":"z", "ᵺ":"th", "ᵻ":"i", "ᵽ":"p",
    "ᵾ":"u", "ᶀ":"b", "ᶁ":"d", "ᶂ":"f", "ᶃ":"g", "ᶄ":"k", "ᶅ":"l", "ᶆ":"m", "ᶇ":"n", "ᶈ":"p", "ᶉ":"r", "ᶊ":"s", "ᶌ":"v", "ᶍ":"x",
    "ᶎ":"z", "ᶏ":"a", "ᶑ":"d", "ᶒ":"e", "ᶓ":"e", "ᶖ":"i", "ᶙ":"u", "ẜ":"s", "ẝ":"s", "ỻ":"ll", "ỽ":"v", "ỿ":"y", "ⱡ":"l", "ⱥ":"a",
    "ⱦ":"t", "ⱨ":"h", "ⱪ":"k", "ⱬ":"z", "ⱱ":"v", "ⱳ":"w", "ⱴ":"v", "ⱸ":"e", "ⱺ":"o", "ꜰ":"f", "ꜱ":"s", "ꜳ":"aa", "ꜵ":"ao",
    "ꜷ":"au", "ꜹ":"av", "ꜻ":"av", "ꜽ":"ay", "ꝁ":"k", "ꝃ":"k", "ꝅ":"k", "ꝇ":"l", "ꝉ":"l", "ꝋ":"o", "ꝍ":"o", "ꝏ":"oo", "ꝑ":"p",
    "ꝓ":"p", "ꝕ":"p", "ꝗ":"q", "ꝙ":"q", "ꝟ":"v", "ꝡ":"vy", "ꝥ":"th", "ꝧ":"th", "ꝱ":"d", "ꝲ":"l", "ꝳ":"m", "ꝴ":"n", "ꝵ":"r",
    "ꝶ":"r", "ꝷ":"t", "ꝺ":"d", "ꝼ":"f", "ꞇ":"t", "ꞑ":"n", "ꞓ":"c", "ꞡ":"g", "ꞣ":"k", "ꞥ":"n", "ꞧ":"r", "ꞩ":"s"}' as jsonb);
begin
  -- Most texts are ASCII. For them this is several times as fast as the general case below.
  if octet_length(said) = char_length(said) then
    return regexp_replace(lower(said collate "C"), '[@.:/_+<>&-]', ' ', 'g');
  end if;
  -- Removes accents and invisible characters, such as joiners and soft hyphens. A bold letter decomposes into a capital.
  said := regexp_replace(lower(left(normalize(said, nfkd), 40000) collate "und-x-icu"),
    '[\u0300-\u036f\u00ad\u02be\u02bf\u1ab0-\u1aff\u1dc0-\u1dff\u200c-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]',
    '', 'g');
  if said ~ '[\u00df-\u02af\u03c2\u1d00-\u1eff\u2c61-\u2c7f\ua700-\ua7ff]|l\u00b7' then
    said := (
      select string_agg(coalesce(letters ->> letter, letter), '' order by position)
      from string_to_table(replace(said, 'l·', 'l'), null) with ordinality as split (letter, position));
  end if;
  -- Also splits at quotes, dashes, arrows and emoji: a database without a locale treats them as letters.
  return regexp_replace(said,
    '[@.:/_+<>&\u00a1-\u00bf\u00d7\u00f7\u02b9-\u02bd\u02c2-\u02d7\u2000-\u2bff'
    '\u3000-\u3004\u3008-\u3020\u3030\u30a0\u30fb\U0001f000-\U0001faff-]', ' ', 'g');
end
$$;
create function private.search_vector_letters(
  first_name text, last_name text, email text, linkedin text, company text, custom_solution text, reason text
) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('pg_catalog.simple'::regconfig, private.folded_letters(
    left(first_name, 500) || ' ' || left(last_name, 500) || ' ' || left(email, 500) || ' ' || left(linkedin, 500) || ' '
    || left(company, 500) || ' ' || left(custom_solution, 1000) || ' ' || left(reason, 10000)));
revoke all on function private.folded_letters(text),
  private.search_vector_letters(text, text, text, text, text, text, text) from public, anon, authenticated;
grant execute on function private.folded_letters(text),
  private.search_vector_letters(text, text, text, text, text, text, text) to anon, service_role;

-- So that the history recognises a repeated act after the act was forgotten.
alter table private.history add column given text;
create function private.remember_given() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.kind <> 'questions' then
    new.given := (select call || ' ' || given from private.acts where acts.act = new.act);
  end if;
  return new;
end
$$;

revoke all on function private.remember_given() from public, anon, authenticated;
create trigger remember_given before insert on private.history
  for each row execute function private.remember_given();

-- The functions that changed. `npm run schema` writes what follows: edit the declared schema instead.
-- The characters that are blank wherever a text is read: white space, control characters and characters that show nothing.
-- Selectors after an emoji are not in it, since they change what it looks like. `application/blank.ts` has the same characters.
create function private.blanks() returns text
  language sql immutable parallel safe
  return E'\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\u0009\u000a\u000b\u000c\u000d\u000e\u000f\u0010\u0011\u0012\u0013\u0014'
    '\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f\u0020\u007f\u0080\u0081\u0082\u0083\u0084\u0085\u0086'
    '\u0087\u0088\u0089\u008a\u008b\u008c\u008d\u008e\u008f\u0090\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009a'
    '\u009b\u009c\u009d\u009e\u009f\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007'
    '\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2060\u2061\u2062'
    '\u2063\u2064\u2065\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\u2800\u3000\u3164\ufeff\uffa0';

revoke all on function private.blanks() from public, anon, authenticated;
grant execute on function private.blanks() to anon, service_role;

-- A text without the blanks at both ends. Rows are stored as they were sent, so whatever reads a form answer trims it. The result
-- is '' for a text that shows nothing.
create function private.trimmed(said text) returns text
  language sql immutable parallel safe
  return btrim(said, private.blanks());

revoke all on function private.trimmed(text) from public, anon, authenticated;
grant execute on function private.trimmed(text) to anon, service_role;

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

revoke all on function private.punycode_bias(bigint, boolean, integer) from public, anon, authenticated;
grant execute on function private.punycode_bias(bigint, boolean, integer) to anon, service_role;

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

revoke all on function private.ascii_label(text) from public, anon, authenticated;
grant execute on function private.ascii_label(text) to anon, service_role;

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

revoke all on function private.unicode_label(text) from public, anon, authenticated;
grant execute on function private.unicode_label(text) to anon, service_role;

-- An email with each label of its domain in ASCII, or as people read it.
create function private.email_with_labels(email text, is_unicode boolean) returns text
  language plpgsql immutable parallel safe
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

revoke all on function private.email_with_labels(text, boolean) from public, anon, authenticated;
grant execute on function private.email_with_labels(text, boolean) to anon, service_role;

-- An email with its domain in ASCII, the form in which domains are compared and stored for the sign-in. Most are ASCII.
create function private.ascii_email(email text) returns text
  language sql immutable parallel safe
  return case when octet_length(email) = char_length(email) then email
    else private.email_with_labels(email, false) end;

revoke all on function private.ascii_email(text) from public, anon, authenticated;
grant execute on function private.ascii_email(text) to anon, service_role;

-- An email with its domain as people read it.
create function private.unicode_email(email text) returns text
  language sql immutable parallel safe
  return case when email like '%xn--%' then private.email_with_labels(email, true) else email end;

revoke all on function private.unicode_email(text) from public, anon, authenticated;

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

revoke all on function private.is_mailbox_provider(text) from public, anon, authenticated;

-- An applicant's full name; if it is blank the email, and without any the words that the desk has for a hidden name.
create function private.full_name(application public.retreat_applications) returns text
  language sql immutable parallel safe
as $$
  select coalesce(
    nullif(private.trimmed(left(application.first_name, 200) || ' ' || left(application.last_name, 200)), ''),
    nullif(private.unicode_email(private.trimmed(left(application.email, 200))), ''), 'Application ' || left(application.id::text, 4))
$$;

revoke all on function private.full_name(retreat_applications) from public, anon, authenticated;

-- What every row with an applicant's name also has if the name is blank: `name`, the words in its place.
create function private.blank_name(application public.retreat_applications) returns jsonb
  language sql stable
as $$
  select case when private.trimmed(application.first_name || application.last_name) = ''
    then jsonb_build_object('name', private.full_name(application)) else '{}' end
$$;

revoke all on function private.blank_name(retreat_applications) from public, anon, authenticated;

-- An applicant's name in lists, cut like all texts there.
create function private.names(application public.retreat_applications) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('first_name', left(application.first_name, 200), 'last_name', left(application.last_name, 200))
    || private.blank_name(application)
$$;

revoke all on function private.names(retreat_applications) from public, anon, authenticated;

-- Identifies a person by their email address, to find repeated applications and to erase all applications of a person
-- together. A digest, because an index entry holds at most 2,704 bytes. Receipts use the mailbox instead, which treats more
-- addresses as equal.
create or replace function private.person(email text) returns text
  language sql immutable parallel safe
  return md5(lower(private.ascii_email(private.trimmed(email))));

-- The calling organiser; other callers are refused. The email is as people read it, also as the author in the history. Each desk function calls this first, as its own statement: the planner
-- chooses the order of conditions in a `where`.
create or replace function private.caller(out id uuid, out email text, out blind boolean)
  language plpgsql stable set search_path = ''
as $$
begin
  if not private.is_organiser() then
    raise exception 'permission denied: not an organiser' using errcode = '42501';
  end if;
  select users.id, private.unicode_email(users.email), organisers.blind into caller.id, caller.email, caller.blind
    from private.organisers join auth.users on users.id = account_id where account_id = auth.uid();
end
$$;

-- The words of a search, all of which have to match; null if it has none. From three letters on, the start of the last word is
-- enough. One letter is enough in a script that is written without spaces, since a word in it may be a whole sentence.
create function private.query_of(search text) returns tsquery
  language sql immutable set search_path = ''
as $$
  select cast(string_agg(
    '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
      || case when place = cardinality(words) and (char_length(lexeme) >= 3 or lexeme ~ (
        -- Thai to Burmese, Hangul, Khmer, from Tai Le to Balinese, from Chinese to Yi, Javanese and Tai Viet.
        '^[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u1b7f\u2e80-\ua4cf\ua960-\ua9ff\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff'
        '\U0001b000-\U0001b16f\U00020000-\U0003ffff]'))
        then ':*' else '' end, ' & ') as tsquery)
    from regexp_split_to_array(private.trimmed(private.folded(search)), '\s+') as words,
      unnest(words) with ordinality as word (said, place),
      unnest(tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, said))) as lexeme
$$;

revoke all on function private.query_of(text) from public, anon, authenticated;

-- A word of a search with each part that a domain may have in its other form.
create function private.other_form(word text) returns text
  language sql immutable set search_path = ''
as $$
  select coalesce(substring(word, '^.*@'), '') || other from (
    select string_agg(case when label like 'xn--%' then private.unicode_label(label) else private.ascii_label(label) end, '.'
      order by position) as other
    from regexp_split_to_table(substring(word, '[^@]*$'), '\.') with ordinality as split (label, position)) as made
$$;

revoke all on function private.other_form(text) from public, anon, authenticated;

-- Parses a search into `query`, null if it has no word. `hits` are the ids of the applications found, null if there are more than
-- 1,000. A domain is found in both of its forms. All words have to match. From three letters on, the start of the last word is enough.
create or replace function private.search(search text, blind boolean, out query tsquery, out hits uuid[])
  language plpgsql stable set search_path = ''
as $$
declare
  wanted text := lower(left(private.trimmed(search), 200) collate "und-x-icu");
  row_estimate float := (select reltuples from pg_class where oid = 'public.retreat_applications'::regclass);
begin
  query := private.query_of(wanted);
  if octet_length(wanted) > char_length(wanted) or wanted like '%xn--%' then
    select query || private.query_of(string_agg(private.other_form(word), ' ' order by position)) into query
      from regexp_split_to_table(wanted, '\s+') with ordinality as split (word, position);
  end if;
  if query is null then return; end if;
  -- The index collects all hits, even if few are wanted. So their number is estimated first, from a sample of up to a hundred
  -- applications, fewer if they are long. The sample has the lowest ids, which are random, so that nobody can choose what is in
  -- it. The planner's statistics know common words, but not beginnings that many rare words share.
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

-- Begins an act. Returns false for a retry, after waiting for the first call to finish. Refuses an id that was used with
-- another call, other arguments or another account. The history remembers an act longer than a day, and through a restore.
create or replace function private.begin_act(act uuid, call text, variadic arguments text[]) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  digest constant text := md5(begin_act.arguments::text);
begin
  if act is null then
    raise exception 'The act needs an id.' using errcode = '22023';
  end if;
  insert into private.acts (act, account_id, call, given)
    values (begin_act.act, auth.uid(), begin_act.call, digest) on conflict do nothing;
  if found then
    delete from private.acts where acts.act = any (array(
      select expired.act from private.acts as expired where at < now() - interval '1 day' limit 1000 for update skip locked
    ));
    perform from private.history where history.act = begin_act.act;
    if not found then
      return true;
    end if;
    perform from private.history
      where history.act = begin_act.act and history.given = begin_act.call || ' ' || digest
        and coalesce(author_id, auth.uid()) is not distinct from auth.uid();
  else
    perform from private.acts
      where acts.act = begin_act.act and acts.call = begin_act.call and acts.given = digest
        and account_id is not distinct from auth.uid();
  end if;
  if not found then
    raise exception 'This id was used for another act: nothing was saved.' using errcode = 'PT409';
  end if;
  return false;
end
$$;

-- Sets statuses, each only if its version is still the one that the caller saw. `decisions` is an array of {id, status, version,
-- takes_back}. The result has the outcome of each. `kept`: it is saved. `stale`: not saved, since somebody else changed it; the
-- result says who, and to what. `told`: not saved, since it would undo (`takes_back`) a decision whose letter was sent or is
-- being sent. `gone`: the application was erased. Repeating the act changes nothing.
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
  is_repeat boolean;
begin
  if jsonb_array_length(decisions) > 1000 then
    raise exception 'At most 1,000 applications are decided at once.' using errcode = '22023';
  end if;
  is_repeat := not private.begin_act(act, 'desk_decide', decisions::text);
  -- After a day, the outcomes are read from the history.
  if is_repeat and exists (select from private.acts where acts.act = desk_decide.act and result is not null) then
    return (select result from private.acts where acts.act = desk_decide.act);
  end if;
  -- All are locked first, and sorted, so that two concurrent calls cannot deadlock.
  perform from public.retreat_applications
    where id in (select id from jsonb_to_recordset(decisions) as sent (id uuid)) order by id for no key update;
  for decision in
    select distinct on (id) id, status, version, takes_back
    from jsonb_to_recordset(decisions) as sent (id uuid, status text, version integer, takes_back boolean) order by id
  loop
    select id, created_at into application from public.retreat_applications where id = decision.id;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, created_at, status, version)
      values (application.id, application.created_at, 'new', 0) on conflict do nothing;
    select * into current_status from private.statuses where application_id = application.id for update;
    select author, at into last_change
      from private.history where application_id = application.id and kind = 'status' order by id desc limit 1;
    if is_repeat then
      outcome := case when decision.status = current_status.status or exists (
        select from private.history where application_id = application.id and history.act = desk_decide.act
      ) then 'kept' else 'stale' end;
    elsif decision.version is distinct from current_status.version then
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

-- The marks that an organiser may see. Everything that shows, counts or sorts marks reads them here. The function sets no search
-- path, so that PostgreSQL can inline it. With subqueries in place of joins, PostgreSQL takes twice as long to read 100,000
-- marks.
create or replace function private.visible_marks(account uuid) returns setof private.marks
  language sql stable
as $$
  select marks.* from private.marks
    left join private.marks as own on own.application_id = marks.application_id and own.account_id = account
    left join private.statuses as decided
      on decided.application_id = marks.application_id and private.is_decision(decided.status)
  where marks.mark is not null and (own.mark is not null or decided.status is not null)
$$;

-- The form answers of an application as an organiser may see them. Organisers who read blind see only the columns named here. The
-- function sets no search path, so that PostgreSQL can inline it. Like each function that takes a row of applications, it has its
-- body in quotes, not as a parsed expression. Newer minor versions of PostgreSQL refuse to add a column to a table whose row type
-- a parsed expression uses.
create or replace function private.form_answers(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable
as $$
  select case
    when blind then jsonb_build_object(
      'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
      'custom_solution', application.custom_solution, 'team_size', application.team_size,
      'reason', application.reason, 'consent', application.consent)
    else to_jsonb(application) - 'edition' || private.blank_name(application)
  end
$$;

-- The form answers that a letter may quote, by placeholder, as the form words them; all null without an application. Blind
-- readers see the form answers that `private.form_answers` shows them, and whether the others are blank. Double braces in form
-- answers, also of two that follow each other, get a space: at the handover they would be read as a placeholder.
create or replace function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and not shown ? name and private.trimmed(answer) <> '' then '(hidden)'
    else regexp_replace(private.trimmed(case name || ' ' || answer
      when 'paid_solution not' then 'I have not' when 'paid_solution screen' then 'Yes, screen time related'
      when 'paid_solution travel' then 'Yes, travel related' when 'paid_solution work' then 'Yes, work or team related'
      when 'paid_solution custom' then 'Custom' when 'team_size just-me' then 'Just me'
      else answer end), '\{(?=\{|$)', '{ ', 'g') end)
  from jsonb_each_text(coalesce(to_jsonb(application), to_jsonb(jsonb_populate_record(application, '{}')))
    - '{id, created_at, consent, edition}'::text[]) as answers (name, answer), private.form_answers(application, true) as shown
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
    select jsonb_build_object('created_at', created_at, 'id', id, 'edition', edition) || case when filter ->> 'order' = 'most yes'
        then jsonb_build_object('yes', (
          select count(*) from private.visible_marks(me.id) where application_id = application.id and mark = 'yes'))
        else '{}' end into found.next
      from public.retreat_applications as application where id = found.ids[fitting];
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

-- The ids of the applications that pass a filter, in order, and the cursor for the next call, null at the end of the list. A call
-- reads up to `look` candidates, for up to a second, and fewer if they are costly to search. So it may return fewer than `most`
-- ids, even none, before the end of the list.
--
-- Without an edition, it finds those of the newest. Without a status, or with `all`, it leaves out the applications that were put
-- aside. All keys of the filter are optional: edition, status, search, team_size, paid_solution, answer (an RSVP state), since,
-- until, marks and order. Marks are `none of mine`, or `disagree`: a visible Yes and a visible No. By default the newest are
-- first. Other orders are `oldest`, `most yes` (the most visible Yes first) and `shuffled` (for each account another order, which
-- stays the same).
create or replace function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, account uuid, out ids uuid[], out next jsonb
)
  -- Most calls end long before `look` candidates. If PostgreSQL planned for all of them, it would sort thousands of rows and
  -- compile the query (JIT).
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
  -- The next retreat may begin between two calls.
  edition record := private.edition_in(jsonb_build_object('edition', coalesce(filter ->> 'edition', after ->> 'edition')));
  -- Sorts before every other id.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
  -- The list is between (since, since_id) and (before, before_id), both exclusive.
  since timestamptz := greatest((filter ->> 'since')::timestamptz, edition.since);
  since_id uuid := first_id;
  before timestamptz := least((filter ->> 'until')::timestamptz, edition.before);
  before_id uuid := first_id;
  -- The parts of the query. `row_condition` is in its `where`, and `conditions` are its column `passes`.
  source text := 'public.retreat_applications as application';
  position text := 'application.created_at, application.id';
  conditions text[] := array['true'];
  octets text := '0';
  yes text := '0';
  row_condition text := 'true';
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
  elsif wanted_marks not in ('none of mine', 'disagree') then
    raise exception 'There are no marks "%".', left(wanted_marks, 100) using errcode = '22023';
  elsif wanted_rsvp is not null then
    wanted := coalesce(wanted, 'accepted');
  end if;
  if sorting = 'most yes' then
    yes := 'coalesce(tally.yes, 0)';
    row_condition := '($15 is null or (coalesce(tally.yes, 0), application.created_at, id) < ($15, $16, $17))';
  elsif sorting = 'shuffled' then
    row_condition := '($17 is null or md5($14 || id::text) > md5($14 || $17::text))';
  elsif is_oldest_first then
    since := coalesce((after ->> 'created_at')::timestamptz, since);
    since_id := coalesce((after ->> 'id')::uuid, first_id);
  else
    before := coalesce((after ->> 'created_at')::timestamptz, before);
    before_id := coalesce((after ->> 'id')::uuid, first_id);
  end if;
  ids := '{}';
  if private.trimmed(filter ->> 'search') <> '' then
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
    -- A stored vector counts as 300 bytes: reading it costs as much as searching an application of that length.
    octets := 'case when vector is null then private.search_octets(application) else 300 end';
  elsif wanted <> 'new' then
    source := 'private.statuses as decided
      left join public.retreat_applications as application on id = decided.application_id';
    row_condition := row_condition || ' and decided.status = $9';
    position := 'decided.created_at, decided.application_id';
  end if;
  if wanted is null and exists (select from private.statuses where status = 'aside') then
    -- Applications that were put aside are only in the list of their status.
    conditions := array_append(conditions,
      'not exists (select from private.statuses as own where own.application_id = id and own.status = ''aside'')');
  end if;
  -- The next two conditions are subqueries: with joins, the planner would read all statuses before the first row.
  if wanted = 'new' or wanted is not null and (query is not null or hits is not null) then
    conditions := array_append(conditions,
      'coalesce((select status from private.statuses as own where own.application_id = id), ''new'') = $9');
  end if;
  if wanted_rsvp is not null then
    conditions := array_append(conditions, '(select private.rsvp_state(is_accepted, told_at, deadline, rsvp, $11)
      from private.invitations as own where own.application_id = id) = any ($10)');
  end if;
  if not edition.is_only then
    conditions := array_append(conditions, 'application.edition = $18');
  end if;
  if filter ->> 'team_size' is not null then
    conditions := array_append(conditions, 'team_size = $12');
  end if;
  if filter ->> 'paid_solution' is not null then
    conditions := array_append(conditions, 'paid_solution = $13');
  end if;
  if sorting = 'most yes' then
    -- Counts all visible marks in one subquery, instead of once for each application.
    source := source || ' left join (
      select application_id as marked_id, count(*)::integer as yes from private.visible_marks($14)
      where mark = ''yes'' group by 1) as tally on marked_id = id';
  end if;
  -- The text contains no values. They are parameters, which PostgreSQL knows when it plans the query.
  open candidates for execute format(
    'select %1$s, %2$s, %3$s, %4$s from %5$s where %6$s and (%1$s) > ($1, $2) and (%1$s) < ($3, $4) order by %7$s limit $5',
    position, octets, array_to_string(conditions, ' and '), yes, source, row_condition, sequence
  ) using since, since_id, before, before_id, look + 1, hits, query, blind, wanted,
    case wanted_rsvp when 'no answer' then array['no answer', 'late'] else array[wanted_rsvp] end,
    case when wanted_rsvp is not null then private.today() end,
    filter ->> 'team_size', filter ->> 'paid_solution', account,
    (after ->> 'yes')::integer, (after ->> 'created_at')::timestamptz, (after ->> 'id')::uuid, edition.id;
  loop
    fetch candidates into candidate_at, candidate_id, candidate_octets, passes, candidate_yes;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      next := jsonb_build_object('created_at', last_at, 'id', last_id, 'edition', edition.id)
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

-- The 20 largest groups among the newest 20,000 applications that are New in the newest edition, the largest first. If finding
-- them takes a second, fewer applications are grouped. `reason`: at least three addresses sent the same reason, ignoring blanks
-- and case. `links`: the reason is nothing but links. `domain`: 20 or more applied within one hour with addresses of the same
-- domain, which is no large provider's. Each application is in at most one group.
create or replace function public.desk_junk() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  undecided_ids uuid[] := (private.find('{"status": "new"}', null, 20000, 50000, me.blind, me.id)).ids;
begin
  return (
    with undecided as materialized (
      select id, application.created_at, private.names(application) as names, reason, coalesce(version, 0) as version,
        private.person(email) as person,
        lower(reverse(split_part(reverse(email), '@', 1))) as domain,
        -- `translate` takes half the time of a regular expression.
        md5(lower(translate(left(reason, 5000), private.blanks(), ''))) as same_reason
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
        ) >= 20 and not private.is_mailbox_provider(domain) then 'domain'
      end as kind
      from counted
    ), grouped as (
      select kind, case kind when 'reason' then same_reason when 'domain' then domain else '' end as key, count(*) as count,
        (array_agg(left(regexp_replace(left(reason, 1000), '\s+', ' ', 'g'), 200) order by created_at desc))[1] as example,
        jsonb_agg(jsonb_build_object('id', id, 'status', 'new', 'version', version)
          || case when me.blind then '{}' else names end order by created_at desc) as applications
      from judged where kind is not null group by 1, 2 order by count desc, key limit 20
    )
    select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'key', case when kind = 'domain' and not me.blind then key end,
      'example', example, 'applications', applications) order by count desc, key), '[]')
    from grouped
  );
end
$$;

-- Up to `most` applications with the state of their letters, and the cursor for the next call. Long form answers are cut, the
-- reason after its first line. An ellipsis says that the reason goes on.
create or replace function public.desk_list(filter jsonb default '{}', after jsonb default null, most integer default 50) returns jsonb
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
        'reason', rtrim(line) || case when line = start then '' else ' …' end)
        || case when me.blind then '{}' else private.names(application)
          || jsonb_build_object('email', left(email, 200), 'company', left(company, 200)) end
        || summary order by position), '[]')
    from unnest(found.ids) with ordinality as hit (id, position)
      join public.retreat_applications as application using (id)
      join private.summaries(found.ids, me.blind) on application_id = id,
      private.trimmed(left(reason, 2000)) as start,
      split_part(translate(left(start, 200), E'\r', E'\n'), E'\n', 1) as line
  ));
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
        || case when me.blind then '{}' else private.names(application) end
      order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      left join private.statuses as standing on application_id = id
  ));
end
$$;

-- One application with everything that is known about it. Blind readers get the details of some kinds of events only; of the
-- others they see only the kind, the author and the time.
create or replace function private.application_details(application uuid, blind boolean) returns jsonb
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
      select private.form_answers(application_row, blind) || summary || case when not blind and application_row.email like '%xn--%' then jsonb_build_object(
        'shown_email', private.unicode_email(application_row.email)) else '{}' end
      from private.summaries(array[application], blind)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind,
        'detail', case
          when not blind or kind in ('status', 'note', 'revealed', 'told', 'answer', 'questions', 'kept', 'link')
            -- A hold that ended has no reason to hide.
            or kind = 'hold' and detail ->> 'reason' is null then detail
          else '{}' end) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', done_at, 'attempts', attempts, 'last_status', reply_status,
        'next_attempt_at', due_at)
      from private.deliveries where id = application
    ),
    'edition', application_row.edition,
    'erased_on', private.erased_on(application_row),
    'hold', (
      select jsonb_build_object('reason', case when not blind then reason end, 'held_by', held_by, 'held_at', held_at)
      from private.holds where application_id = application
    ),
    'questions', case
      when exists (select from private.invitations where application_id = application and is_accepted and rsvp = 'coming')
        or exists (select from private.question_answers where application_id = application)
      then private.questions_of(application, application_row.edition, not blind)
      else '[]' end,
    'others', case when blind then '[]' else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'edition', edition, 'company', left(company, 200), 'status', status)), '[]')
      from (
        select id, other.created_at, edition, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where private.person(email) = private.person(application_row.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

-- A stamp that changes when anything that is known about an application changes. It reveals no text.
create or replace function private.stamp(application uuid, account uuid) returns text
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
    (
      select jsonb_build_array(private.erased_on(stored), questions_version)
      from public.retreat_applications as stored join private.editions on editions.id = stored.edition
      where stored.id = application
    ),
    -- Rows are only added to the history, so their number is enough.
    (select count(*) from private.history where application_id = application),
    private.marks_shown(application, account),
    -- Not the answers: blind readers could guess a private answer and compare the stamp.
    (
      select jsonb_agg(jsonb_build_array(question_id, answered_at) order by question_id)
      from private.question_answers where application_id = application
    ),
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

-- One application with everything that blind reading hides, for an organiser who reads blind, except answers to private
-- questions. The history records who revealed it.
create or replace function public.desk_reveal(act uuid, application uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind and private.begin_act(act, 'desk_reveal', application::text) then
    perform private.write_down(application, act, me.email, 'revealed', '{}');
  end if;
  return private.application_details(application, false)
    || jsonb_build_object('questions', private.application_details(application, me.blind) -> 'questions');
end
$$;

create or replace function private.remember_erasures() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  gone jsonb := (select jsonb_object_agg(id, true) from erased);
begin
  insert into private.erasures (digest)
    select encode(sha256(convert_to(id::text, 'UTF8')), 'hex') from erased on conflict do nothing;
  -- Remove them from the results of acts.
  update private.acts set result = (
      select coalesce(jsonb_agg(entry order by position), '[]')
      from jsonb_array_elements(result) with ordinality as of_act (entry, position)
      where not gone ?| array[entry ->> 'id', entry ->> 'application']
    )
    where jsonb_typeof(result) = 'array' and exists (
      select from jsonb_array_elements(result) as entry where gone ?| array[entry ->> 'id', entry ->> 'application']
    );
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
    return coalesce((select result from private.acts where acts.act = desk_erase.act), (
      select jsonb_build_object('erased', detail -> 'applications') from private.history where history.act = desk_erase.act
    ));
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

-- Refuses an application while the door is closed, with the organisers' sentence, and counts it while a limit is set. It runs
-- after the insert, so that the index refuses a repeat first: a repeat is a success even when the door is closed.
create or replace function private.refuse_when_closed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  door private.door;
begin
  -- Held until the application is stored: `hold_applying` waits for this lock before a limit is set.
  perform pg_advisory_xact_lock_shared(5610746);
  select * into door from private.door;
  -- Checked before the query, since PostgreSQL evaluates a condition without a query in a tenth of the time.
  -- A later end than in an hour was written before the clock was set back.
  if door.repeats_until > now() and door.repeats_until <= clock_timestamp() + interval '1 hour' then
    perform from public.retreat_applications as former
      where private.answers_digest(former) = private.answers_digest(new) and edition = any (array(
        select id - 1 from private.editions where began_at > clock_timestamp() - interval '1 hour'
      ));
    if found then
      -- Clients know a repeat by this code and this name.
      raise exception 'duplicate key value violates unique constraint "retreat_applications_once"'
        using errcode = '23505', constraint = 'retreat_applications_once', table = 'retreat_applications', schema = 'public';
    end if;
  end if;
  if new.created_at < door.edition_since then
    update private.editions set since = new.created_at where id = new.edition and since > new.created_at;
  end if;
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

-- While an open door has a limit, an application that is put aside no longer counts. It counts again if it gets another status. A
-- door that has closed stays closed.
create or replace function private.count_aside() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  -- A limit that is set meanwhile counts this application, so it waits for this transaction.
  perform pg_advisory_xact_lock_shared(5610746);
  update private.door set received = received + case when new.status = 'aside' then -1 else 1 end
    where not closed and received < closes_after and (closes_at is null or closes_at > now())
      and new.created_at >= opened_at and received + (new.status <> 'aside')::integer > 0;
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
  -- A door that its limit closed, and that stays closed, keeps its number: a lower one would open it.
  if closes_after is not null and (opens or set_door.closed or (state ->> 'is_open')::boolean) then
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
    letter := private.filled(subject, body, application_row, blind, case when private.may_ask_for_rsvp(occasion)
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
    private.full_name(application_row) end);
end
$$;

-- The templates of the product, with the texts that a new database has.
create or replace function private.first_templates() returns table (name text, kind text, subject text, body text)
  language sql immutable set search_path = ''
as $$
  values
  ('accepted', 'decision', 'Your place at Unplugged', 'Hello {{first_name}},

We would love to have you with us: your application to Unplugged is accepted.

We keep your place until {{reply_by}}. Please tell us by then whether you are coming.

You can say so here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.'),
  ('reminder', 'reminder', 'Are you coming to Unplugged?', 'Hello {{first_name}},

We have not heard from you yet: are you coming to Unplugged? We keep your place until {{reply_by}}.

You can say so here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.'),
  ('confirmed', 'confirmation', 'See you at Unplugged', 'Hello {{first_name}},

Thank you for telling us that you are coming to Unplugged. Your place is confirmed, and we look forward to meeting you.

If your plans change, please tell us here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.'),
  ('questions', 'reminder', 'A few questions before Unplugged', 'Hello {{first_name}},

We look forward to meeting you at Unplugged. So that we can prepare it, please answer a few questions.

You can do so here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.'),
  ('waitlisted', 'decision', 'You are on the waitlist of Unplugged', 'Hello {{first_name}},

Thank you for your application to Unplugged. All places are taken for now, and you are on our waitlist.

If one becomes free, we will write to you at once.

The organisers of Unplugged.'),
  ('declined', 'decision', 'Your application to Unplugged', 'Hello {{first_name}},

Thank you for your application to Unplugged. We are sorry that we cannot offer you a place this time.

We wish you and {{company}} all the best.

The organisers of Unplugged.'),
  ('received', 'receipt', 'We have your application', 'Hello {{first_name}},

Thank you for your application to Unplugged. We have it, and we will get back to you soon.

The organisers of Unplugged.')
$$;

-- The address of letters to an applicant: the one that they gave, or the organisers' replacement. Blanks around it are no part of
-- an address, and a mail server would refuse them.
create or replace function private.address_of(application uuid, given text) returns text
  language sql stable set search_path = ''
  begin atomic
    select private.trimmed(coalesce((select address from private.addresses where application_id = application), given));
  end;

-- Locks letters, their applications, and their templates, which cannot be removed meanwhile. Takes ids of letters and of
-- deliveries. For a receipt, which has no letter, it locks only the application.
create or replace function private.lock_letters(ids uuid[]) returns void
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

-- Records the result of a claim: `done`, `failed`, or `waiting` for another try after a pause. `counts`: this try uses up one
-- of the allowed attempts. Without a reply, the former reply is unchanged. `is_uncertain`: it may have arrived. `is_closing`:
-- the mail server closed the connection. `refused`: the receiver refused it permanently. Returns the new state, which is
-- `cancelled` if it was recalled during the try. Returns null if this claim is no longer the current one.
create or replace function private.record_delivery(
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
    perform private.accept_mail(claimed.tried_at);
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
      subject = case when kind <> 'test' or record_delivery.state = 'waiting' then sent.subject end,
      body = case when kind <> 'test' or record_delivery.state = 'waiting' then sent.body end
    from private.as_sent(claimed, record_delivery.state = 'done') as sent
    where id = delivery returning row.* into recorded;
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

-- Erases the deliveries about an application, and that of the application itself, before the application, as in the lock order of
-- servers. A server that claims a delivery, or records its result, locks the delivery, then the invitation and earlier RSVPs. It
-- does not lock the application.
create or replace function private.erase_deliveries() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform from private.deliveries where old.id in (id, application_id) 
    -- The latest first, as recording an RSVP or a decision locks it before the earlier ones.
    order by event_id desc nulls last, queued_at desc, id desc for update;
  delete from private.deliveries where old.id in (id, application_id);
  return old;
end
$$;

-- Makes these failed deliveries due again, with the full number of attempts. Returns how many. Skips a decision if a later one of
-- the same applicant is pending.
create or replace function private.retry_failed(wanted uuid[]) returns integer
  language sql set search_path = ''
as $$
  with retried as (
    update private.deliveries as delivery set state = 'waiting', attempts = 0, due_at = now(), reply = '', is_refused = false,
        closings = 0
      where id = any (wanted) and state = 'failed' and not (kind = 'decision' and exists (
        select from private.deliveries as later
        where later.application_id = delivery.application_id and later.kind = 'decision'
          and private.is_before(delivery, later) and later.state in ('waiting', 'sending')
      )) returning true
  )
  select count(*)::integer from retried
$$;

-- Runs after the try of a recalled delivery has ended. Drafts a letter about the current decision if the recalled letter may have
-- told another decision, or if it was about the current one. The caller has locked the letter.
create or replace function private.settle_recalled(delivery private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
declare
  status_now text := (select status from private.statuses where application_id = delivery.application_id);
  template text := (select letters.template from private.letters where id = delivery.letter_id);
begin
  -- A decision beside an email changes no letter.
  if not private.is_main(delivery) then return; end if;
  if delivery.state = 'cancelled' then perform private.settle_letter(delivery); end if;
  if private.is_decision(status_now) and (
    private.is_decision(template) and private.has_told(delivery) or template = status_now
  ) then
    perform private.draft_from_template(
      delivery.application_id, status_now, delivery.state = 'cancelled' and template = status_now);
  end if;
end
$$;

-- Whether a letter to one person has placeholders besides the link and the deadline, which are filled in at the handover.
create function private.has_placeholders(text text) returns boolean
  language sql immutable
  return regexp_replace(text, '\{\{\s*(answer_link|reply_by)\s*\}\}', '', 'g') ~ '\{\{|\}\}';

revoke all on function private.has_placeholders(text) from public, anon, authenticated;

-- A draft as it would be sent. `seen` identifies the text that the organiser read. It is a digest of the template's text,
-- which all organisers may read. For an edited letter, whose text may name somebody, it is the version.
create or replace function private.draft_text(letter private.letters, blind boolean) returns jsonb
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
      -- A template that was reset left blank placeholders in its drafts.
      'unknown', case when private.has_placeholders(letter.subject || letter.body) then '["{{"]' else '[]' end::jsonb,
      'is_long', false
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

-- Refuses an invalid letter to one person.
create or replace function private.check_letter(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  perform private.check_text(subject, body);
  if private.has_placeholders(subject || body) then
    raise exception 'A letter to one person has no placeholders except {{answer_link}} and {{reply_by}}.'
      using errcode = '22023';
  end if;
end
$$;

-- Returns a draft with its link, so that an organiser can open it in their own mail program. The history records that the
-- organiser got the link. `site` is used if no server has stored the site's address. Older desks also send the time zone. A
-- letter with the link or the deadline is refused until a time zone is set.
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
  elsif text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then
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

-- Releases drafts, an array of {id, seen}: they are sent after a minute. `seen` identifies the text that the organiser read: a
-- digest of the template's text, or the version of an edited letter (`draft_text`). For more than thirty letters, `number` must
-- equal their count. Letters that were sent before need `again`, except reminders. The result has the outcome of each.
-- `released`: it is queued. `gone`: it is no longer a draft, its decision is no longer current, or its questions cannot be answered
-- any more. `changed`: since it was read.
-- `missing`: a placeholder is blank or unknown. `long`: too long once filled in. `again`: sent before. Without a mail server the
-- decision goes to the automation, which emails the applicant.
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
  elsif not private.begin_act(act, 'desk_release', letters::text, again::text) then
    return (select result from private.acts where acts.act = desk_release.act);
  elsif not (is_postman_there or is_automation_there) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  elsif not is_postman_there and exists (
    select from private.letters as draft
    where id = any (wanted) and not private.is_decision(coalesce(draft.template, ''))
  ) then
    raise exception 'Only decisions go to the automation, and no server with a mail server is running.'
      using errcode = 'PT409';
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
        or letter.template = 'questions' and not private.are_questions_open(private.edition_of(letter.application_id))
        then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when not coalesce(again, false) and coalesce(letter.template, '') not in ('reminder', 'questions') and private.times_told(letter.id) > 0
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

-- Whether a delivery failed and can be tried again: no receipt older than a day, and no letter whose deadline has passed.
create function private.can_retry(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return delivery.state = 'failed' and delivery.kind in ('letter', 'decision', 'receipt')
    and (delivery.kind <> 'receipt' or delivery.queued_at > now() - interval '1 day') and not private.is_overdue(delivery);
end
$$;

revoke all on function private.can_retry(private.deliveries) from public, anon, authenticated;

-- Sends failed deliveries again if they can be tried again. The result counts those of the given deliveries that are then pending
-- or done.
create or replace function private.retry_letters(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.retry_failed(array(
    select id from private.deliveries as delivery where id = any (wanted) and private.can_retry(delivery)
  ));
  return (select count(*) from private.deliveries where id = any (wanted) and state in ('waiting', 'sending', 'done'));
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
  select newest.id into delivery from (
    select * from private.deliveries as own
    where letter_id = draft.id and private.is_main(own) order by queued_at desc, id limit 1
  ) as newest where by = 'hand' and author = me.email;
  if draft.state = 'released' and delivery is not null and not private.is_undelivered(draft.id) then
    -- The caller repeats the change, because the response of the first call was lost.
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

-- The recipient of a letter, as an organiser may see it.
create or replace function private.addressee(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object('application', application.id,
    'to', case when not blind then private.unicode_email(private.address_of(application.id, application.email)) end,
    'name', case when not blind then private.full_name(application) end)
$$;

-- Up to fifty letters that are pending (`waiting`), or that could not be delivered (`refused`, `given up`), the newest first.
-- Letters that were released together follow each other. `retriable` has the ids of those that `desk_retry` can send again, up to
-- the thousand that it takes; only with the first fifty.
create or replace function public.desk_outbox(state text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  before timestamptz := coalesce((after ->> 'at')::timestamptz, 'infinity');
  before_id uuid := coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
  ids uuid[];
  retriable uuid[] := array[]::uuid[];
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
    if after is null then
      retriable := array(
        select id from private.deliveries as delivery
        where kind in ('letter', 'decision', 'receipt') and delivery.state = 'failed'
          and is_refused = (desk_outbox.state = 'refused') and private.can_retry(delivery)
        order by queued_at desc, id desc limit 1000
      );
    end if;
  else
    raise exception 'The state must be waiting, refused or given up.' using errcode = '22023';
  end if;
  return jsonb_build_object('letters', private.letter_deliveries_shown(ids, me.blind), 'overview', private.letters_overview(),
    'retriable', to_jsonb(retriable), 'next', (
    select jsonb_build_object('at', queued_at, 'id', id) from private.deliveries where id = ids[50]
  ));
end
$$;

-- Normalises an address to its mailbox. Null if the mailbox is unknown: for addresses that a mail server may forward
-- (`ada%example.com@example.org`), for quoted names, for names beyond ASCII, and for more than 254 characters.
create or replace function private.mailbox(email text) returns text
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
create or replace function private.plain_name(typed_name text) returns text
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

-- Writes a receipt: at most one a day to a mailbox, in any spelling of its address, and twenty to a domain, so that nobody can
-- flood a company's mailboxes. The domain of a public mail provider gets a thousand. If two inserts for one domain run at once,
-- one skips its receipt instead of waiting.
create or replace function private.write_receipt(application public.retreat_applications) returns void
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
  perform private.check_site(site);
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_send_test', subject, body, application::text, occasion, site) then
    return jsonb_build_object('to', me.email);
  elsif not exists (select from private.postman where private.is_recent(seen_at)) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
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
    raise exception 'At most twenty test emails an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (act, 'test', me.id, (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;

-- Runs when a letter arrived or may have arrived. A decision is then also sent to an automation, if a server for automations was
-- seen within a day. A letter of acceptance, or one with the link, starts the time for the RSVP. A letter about another decision
-- resets the invitation: a later acceptance has a new link and no RSVP. It resets nothing if a later letter that asks for an RSVP has
-- already arrived.
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
      select from private.deliveries as later join private.letters as letter on letter.id = later.letter_id
      where later.application_id = new.application_id and private.has_told(later) and later.queued_at > new.queued_at
        and (letter.template = 'accepted' or private.has_link(later.body))
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
  if template in ('reminder', 'questions') and new.state = 'done' then
    update private.invitations set reminded_at = new.done_at where application_id = new.application_id;
  end if;
  return null;
end
$$;

-- A text with the deadline filled in; left out if there is none.
create or replace function private.with_deadline(letter_text text, deadline date) returns text
  language sql immutable set search_path = ''
  return regexp_replace(letter_text, '\{\{\s*reply_by\s*\}\}', coalesce(to_char(deadline, 'FMDD FMMonth YYYY'), ''), 'g');

-- On how many days something is announced before it is erased: seven, or eight if there was a gap between two of them. A gap may
-- be a jump of the clock, which counted a day too many. Without a gap, the seventh day is `until`.
create function private.days_to_announce(announcement private.announcements) returns integer
  language sql immutable set search_path = ''
as $$
  select case when announcement.announced_on + 7 - announcement.days > announcement.until then 8 else 7 end
$$;

revoke all on function private.days_to_announce(private.announcements) from public, anon, authenticated;

-- Counts today as a day of announcement. The first day announces everything that is due within six days, and the later days
-- announce the same. `erasable_until`: from the last of `private.days_to_announce` on, everything that is due up to this day may
-- be erased; null before. `is_new`: today was not counted before. A clock that jumps erases nothing: if the last announcement was
-- more than a month ago, or is in the future, the count starts again.
create or replace function private.announce(
  edition integer, subject text, out erasable_until date, out is_new boolean
)
  language plpgsql set search_path = ''
as $$
declare
  today constant date := private.today();
begin
  insert into private.announcements as former (edition, subject, days, announced_on, until)
    values (announce.edition, announce.subject, 1, today, today + 6)
    on conflict on constraint announcements_pkey do update set announced_on = today,
      days = case when today - former.announced_on between 1 and 31 then former.days + 1 else 1 end,
      until = case when today - former.announced_on between 1 and 31 then former.until else today + 6 end
      where former.announced_on <> today;
  is_new := found;
  select least(until, today) into erasable_until from private.announcements
    where announcements.edition = announce.edition and announcements.subject = announce.subject
      and days >= private.days_to_announce(announcements);
end
$$;

-- The digest by which a restore knows an erased answer. It has two random ids, so it reveals nothing.
create function private.answer_digest(given private.question_answers) returns text
  language sql stable set search_path = ''
as $$
  select encode(sha256(convert_to(given.application_id || ' ' || given.question_id, 'UTF8')), 'hex')
$$;

revoke all on function private.answer_digest(private.question_answers) from public, anon, authenticated;

-- Whether answers differ from the stored ones, or are no answers.
create function private.are_new_answers(application uuid, answers jsonb) returns boolean
  language sql stable set search_path = ''
as $$
  select case when jsonb_typeof(answers) = 'object' then exists (
    select from jsonb_each_text(answers) as given (id, text)
      left join private.question_answers as stored on application_id = application and question_id::text = given.id
    where btrim(text, E' \t\r\n') is distinct from coalesce(stored.answer, '')
  ) else true end
$$;

revoke all on function private.are_new_answers(uuid, jsonb) from public, anon, authenticated;

-- Stores the answers that somebody who is coming gave through their link. Repeating the act stores nothing more, and neither do answers
-- that change nothing. The result is the invitation afterwards. After the last day nothing is stored.
create or replace function public.answer_questions(token text, answers jsonb, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if act is null then
    raise exception 'The act needs an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- Checked again under the lock, since a decision or an RSVP may have changed it.
  if private.application_of_token(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif (public.place_by_token(token) #>> '{questions,is_open}')::boolean then
    -- Refused before answers are compared: otherwise a refusal would tell whether a guess of a private answer is right.
    perform private.refuse_too_many_changes(application, act);
    -- Anybody with the link could otherwise store acts without end.
    if private.are_new_answers(application, answers) and private.begin_act(act, 'answer_questions', token, answers::text) then
      perform private.write_answers(application, act, 'applicant', answers);
    end if;
    if private.has_open_questions(application) then
      raise exception 'Please answer all questions that are required.' using errcode = '22023';
    end if;
  end if;
  return public.place_by_token(token);
end
$$;

-- The application of a link's token; null if the token is unknown, or the acceptance was taken back.
create or replace function private.application_of_token(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application_id from private.invitations as invitation
  where is_accepted and invitation.token
    = case when application_of_token.token ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then application_of_token.token::uuid end
$$;

-- Returns an invitation as its page shows it. "state" is "open", "over" after the deadline, or "invalid", which comes alone.
-- The other keys are "first_name", "until" (the deadline), "answer" (the RSVP, or null) and "address" (where replies go).
-- "retreat" and "questions" are null unless the person is coming (`private.retreat`, `private.questions_of`). No answer to a
-- private question is returned, since a letter may be forwarded. The names are older than the words invitation and RSVP, and
-- published pages use them.
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
      'first_name', left(private.trimmed(first_name), 200), 'until', until, 'answer', rsvp,
      'address', private.unicode_email(coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender)),
      'retreat', case when rsvp = 'coming' then private.retreat(edition) end,
      'questions', case when rsvp = 'coming' then (
        select jsonb_build_object(
          'until', coalesce(questions_until, starts_on), 'is_open', private.are_questions_open(edition),
          'private_days', private_days, 'list', private.questions_of(application, edition, false))
        from private.editions
        where id = edition and exists (select from private.questions where questions.edition = editions.id)
      ) end
    )
    from private.invitations as invitation
      join public.retreat_applications as application_row on application_row.id = application_id
      cross join private.places
      cross join lateral (select coalesce(deadline, private.today() + places.days) as until) as counted
    where application_id = application
  );
end
$$;

drop function private.refuse_too_many_changes(uuid);

-- Refuses more than twenty changes by an applicant in an hour, but no retry of an act. A future time does not count: the clock
-- was set back.
create function private.refuse_too_many_changes(application uuid, act uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if (
    select count(*) from private.history
    where application_id = application and kind in ('answer', 'questions') and author = 'applicant'
      and at > now() - interval '1 hour' and at <= clock_timestamp()
  ) >= 20 and not exists (select from private.acts where acts.act = refuse_too_many_changes.act) then
    raise exception 'There were too many changes. Please try again in an hour.' using errcode = 'PT429';
  end if;
end
$$;

revoke all on function private.refuse_too_many_changes(uuid, uuid) from public, anon, authenticated;

-- Stores `answer`, the RSVP that was given through the link: `coming`, or `not coming`. Repeating the act stores nothing more,
-- and neither does the RSVP that is stored. After the deadline nothing is stored. Returns the invitation afterwards, as
-- `place_by_token` does.
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
  elsif public.place_by_token(token) @> '{"state": "open"}'
    -- Anybody with the link could otherwise store acts without end.
    and not exists (select from private.invitations where application_id = application and rsvp = answer)
  then
    perform private.refuse_too_many_changes(application, act);
    if private.begin_act(act, 'answer_place', token, answer) then
      perform private.set_rsvp(application, act, 'applicant', answer);
    end if;
  end if;
  return public.place_by_token(token);
end
$$;

-- The questions of an edition, by default the newest: {edition, version, questions, until, closes_on, private_days, erased_on,
-- due}. `until` is the last day for answers if organisers set it, and `closes_on` the one that counts. `due` counts the private answers
-- of all editions that are due to be erased. Each question has the number of its `answers`.
create or replace function public.desk_questions(edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'edition', shown.id, 'version', questions_version,
      'until', questions_until, 'closes_on', coalesce(questions_until, starts_on),
      'private_days', private_days, 'erased_on', private.answers_erased_on(shown), 'due', private.count_due_answers(),
      'questions', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'kind', kind, 'text', text, 'choices', choices, 'is_required', is_required, 'is_private', is_private,
          'answers', (select count(*) from private.question_answers where question_id = questions.id)
        ) order by position), '[]')
        from private.questions where questions.edition = shown.id
      ))
    from private.editions as shown where id = (private.edition_in(jsonb_build_object('edition', desk_questions.edition))).id
  );
end
$$;

-- Checks one question as `desk_set_questions` gets it, and returns it as a row.
create or replace function private.question_given(sent jsonb, edition integer, list_position integer) returns private.questions
  language plpgsql stable set search_path = ''
as $$
declare
  question private.questions;
  former private.questions;
begin
  question := jsonb_populate_record(null::private.questions, sent);
  question.id := coalesce(question.id, gen_random_uuid());
  question.edition := question_given.edition;
  question.position := list_position;
  question.text := btrim(coalesce(question.text, ''), E' \t\r\n');
  question.choices := case when question.kind = 'choice'
    then array(select btrim(choice) from unnest(question.choices) with ordinality as of_question (choice, number) order by number)
    else '{}' end;
  select * into former from private.questions where id = question.id;
  if question.kind is null or question.kind not in ('short', 'long', 'choice', 'yes-no')
    or question.is_required is null or question.is_private is null
  then
    raise exception 'A question has a kind, and is required or not, private or not.' using errcode = '22023';
  elsif question.text = '' or char_length(question.text) > 200 or question.text ~ '[[:cntrl:]]' then
    raise exception 'A question is one line of 1 to 200 characters.' using errcode = '22023';
  elsif question.kind = 'choice' and (
    cardinality(question.choices) not between 2 and 20
    or (
      select count(distinct choice) < count(*) or bool_or(choice = '' or char_length(choice) > 100 or choice ~ '[[:cntrl:]]')
      from unnest(question.choices) as choice
    )
  ) then
    raise exception 'A question has 2 to 20 different options of 1 to 100 characters.' using errcode = '22023';
  elsif former.edition <> question.edition then
    raise exception 'This question belongs to another retreat.' using errcode = '22023';
  elsif former.kind <> question.kind or former.is_private and not question.is_private then
    -- Somebody may be answering it at this moment, because it is private.
    raise exception 'A saved question keeps its kind, and stays private. Remove it, and ask a new one.' using errcode = '22023';
  end if;
  return question;
end
$$;

-- Sets the questions of an edition, by default the newest, in the order of `questions`. Former questions that are not among them
-- are removed with their answers. `until` is the last day for answers, null for the first day of the retreat. `private_days`
-- counts from the end of the retreat.
create or replace function public.desk_set_questions(
  version integer, questions jsonb, until date, private_days integer, edition integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  wanted private.questions[];
begin
  if jsonb_typeof(questions) is distinct from 'array' or jsonb_array_length(questions) > 10 then
    raise exception 'There are at most 10 questions.' using errcode = '22023';
  elsif until < '2000-01-01' or until >= '3000-01-01' then
    raise exception 'The days are between 2000 and 2999.' using errcode = '22023';
  end if;
  select * into former from private.editions
    where id = coalesce(desk_set_questions.edition, (select max(id) from private.editions)) for update;
  wanted := array(
    select private.question_given(question, former.id, list_position::integer)
    from jsonb_array_elements(questions) with ordinality as listed (question, list_position) order by list_position
  );
  if (select count(distinct id) < count(*) from unnest(wanted)) then
    raise exception 'Two questions have the same id.' using errcode = '22023';
  elsif not exists (select from unnest(wanted) where is_private) then
    private_days := null;
  elsif not coalesce(private_days between 1 and 365, false) then
    raise exception 'Private answers are erased 1 to 365 days after the retreat.' using errcode = '22023';
  end if;
  if (former.questions_until, former.private_days) is not distinct from (until, desk_set_questions.private_days)
    and wanted = array(select question from private.questions as question where question.edition = former.id order by position)
  then
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
    return public.desk_questions(former.id);
  elsif former.questions_version is distinct from desk_set_questions.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  -- Before answers are erased, as in `keep_answers`, to avoid a deadlock.
  if former.private_days is distinct from desk_set_questions.private_days then
    perform private.end_announcements(former.id, 'answers');
  end if;
  delete from private.questions where questions.edition = former.id and id not in (select id from unnest(wanted));
  insert into private.questions select * from unnest(wanted)
    on conflict (id) do update set (position, text, choices, is_required, is_private)
      = (excluded.position, excluded.text, excluded.choices, excluded.is_required, excluded.is_private);
  update private.editions set questions_version = former.questions_version + 1, questions_until = until,
    private_days = desk_set_questions.private_days where id = former.id;
  insert into private.history (author, kind, detail)
    values (me.email, 'questions', jsonb_build_object('questions', cardinality(wanted)));
  return public.desk_questions(former.id);
end
$$;

-- Up to 1,000 people who are coming to the retreat of an edition, by default the newest: {guests: [{id, first_name, last_name,
-- email, phone, company, answers}], next}. `answers` are by the id of the question, and `next` is the cursor for the next call.
-- Blind readers get only ids, and answers that are not private.
create or replace function public.desk_guests(after jsonb default null, edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    with guests as (
      select application.*, private.names(application) as names
      from private.invitations join public.retreat_applications as application on application.id = application_id
      where is_accepted and rsvp = 'coming'
        and application.edition = (private.edition_in(jsonb_build_object('edition', desk_guests.edition))).id
        and (after is null or application.id > (after ->> 'id')::uuid)
      order by application.id limit 1001
    ), shown as (
      select * from guests order by id limit 1000
    )
    select jsonb_build_object(
      'guests', coalesce(jsonb_agg(jsonb_build_object('id', shown.id, 'answers', (
        select coalesce(jsonb_object_agg(question_id, answer), '{}')
        from private.question_answers join private.questions on questions.id = question_id
        where application_id = shown.id and not (me.blind and is_private)
      )) || case when me.blind then '{}' else names || jsonb_build_object('email', left(email, 200),
        'phone', left(phone, 200), 'company', left(company, 200)) end order by shown.id), '[]'),
      'next', case when (select count(*) from guests) > 1000
        then jsonb_build_object('id', (array_agg(shown.id order by shown.id desc))[1]) end)
    from shown
  );
end
$$;

-- Erases the private answers that are due, of the editions `due` or of all (null), and writes into the history how many.
create or replace function private.erase_due_answers(author text, due integer[] default null) returns integer
  language plpgsql set search_path = ''
as $$
declare
  erased integer;
begin
  with gone as (
    delete from private.question_answers as given using private.questions, private.editions
      where questions.id = question_id and editions.id = questions.edition
        and is_private and private.answers_erased_on(editions) <= private.today()
        and editions.id = any (coalesce(due, array[editions.id]))
      returning private.answer_digest(given) as digest
  ), remembered as (
    insert into private.erasures (digest) select digest from gone on conflict do nothing
  )
  select count(*) into erased from gone;
  if erased > 0 then
    -- A "yes" could be guessed from a digest. A retry is refused from now on.
    update private.acts set given = '' where call in ('answer_questions', 'desk_answer_questions');
    insert into private.history (author, kind, detail) values (author, 'questions', jsonb_build_object('erased', erased));
  end if;
  return erased;
end
$$;

-- The numbers of places and RSVPs of an edition, by default the newest, and its waitlist. The result is {version, places,
-- days, zone, is_zone_set, site, today, edition, editions, erasing, retreat, questions, coming, not_coming, no_answer, late,
-- not_told, to_remind, free, waitlisted, waitlist}. `editions` are all editions, the newest first. `erasing`: the announced
-- applications (24_retention.sql). `retreat` has the edition's days and venue. `questions` has the number of its questions,
-- and of people with `open` ones. `late` is a part of `no_answer`. `to_remind`: the reminders that `desk_remind` would draft.
-- `free` is null if the number of places is unknown, and negative if more people were accepted. `waitlist` has the first
-- twenty of those `waitlisted`. `zone` is `UTC` until one is set. Older desks send the argument `zone`, which is ignored.
create or replace function public.desk_places(zone text default null, edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  -- Computed once, not for each row.
  today constant date := private.today();
  shown record := private.edition_in(jsonb_build_object('edition', edition));
begin
  return (
    with states as (
      -- Grouped first, so that the counts below compare words once a state and not once a row.
      select state, count(*) as people, count(*) filter (
          where state in ('no answer', 'late') and not is_reminded
            -- A subquery that PostgreSQL hashes: a join would take three times as long.
            and application_id not in (select private.with_unsent_letter('reminder'))
        ) as to_remind
      from (
        select application_id, private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) as state,
          coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
        from private.invitations
        where is_accepted and private.is_of(application_id, shown.id, shown.is_only)
      ) as invitations
      group by state
    ), counted as (
      select coalesce(sum(people) filter (where state = 'coming'), 0) as coming,
        coalesce(sum(people) filter (where state = 'not coming'), 0) as not_coming,
        coalesce(sum(people) filter (where state in ('no answer', 'late')), 0) as no_answer,
        coalesce(sum(people) filter (where state = 'late'), 0) as late,
        coalesce(sum(people) filter (where state = 'not told'), 0) as not_told,
        coalesce(sum(to_remind), 0) as to_remind
      from states
    ), open_questions as (
      select count(*) as people, count(*) filter (
          where not coalesce(private.is_reminder_recent(reminded_at), false)
            and application_id not in (select private.with_unsent_letter('questions'))
        ) as to_remind
      from private.invitations
      where is_accepted and rsvp = 'coming' and private.is_of(application_id, shown.id, shown.is_only)
        and (select private.has_required_questions(shown.id)) and private.has_open_questions(application_id)
    ), waiting as (
      select application_id, set_at from private.statuses
      where status = 'waitlisted' and private.is_of(application_id, shown.id, shown.is_only) order by set_at, application_id limit 20
    )
    select to_jsonb(counted) || jsonb_build_object(
      'version', version, 'places', seats, 'days', days, 'zone', coalesce(settings.zone, 'UTC'),
      'is_zone_set', settings.zone is not null, 'site', site,
      'today', today, 'edition', shown.id, 'editions', private.editions_shown(),
      'erasing', private.announced_applications(), 'retreat', (
        select jsonb_build_object('version', calendar_sequence, 'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
        from private.editions where editions.id = shown.id
      ), 'questions', jsonb_build_object(
        'questions', (select count(*) from private.questions where questions.edition = shown.id),
        'open', open_questions.people
      ), 'to_remind',
        least(counted.to_remind, 1000) + least(open_questions.to_remind, 1000),
      'free', seats - coming - no_answer - not_told,
      'waitlisted', private.count_with_status('waitlisted', shown.id, null),
      'waitlist', (
        select coalesce(jsonb_agg(
          jsonb_build_object('set_at', set_at) || (
            -- The beginnings of long form answers.
            select jsonb_object_agg(key,
              case jsonb_typeof(value) when 'string' then to_jsonb(left(value #>> '{}', 200)) else value end)
            from jsonb_each(private.form_answers(application, me.blind) || summary)
          )
          order by set_at, id), '[]')
        from waiting
          join public.retreat_applications as application on id = waiting.application_id
          join private.summaries(array(select application_id from waiting), me.blind) as summaries
            on summaries.application_id = id
      ))
    from private.places as settings, counted, open_questions, lateral (
      select case when shown.id = max(id) then settings.places else max(editions.places) filter (where id = shown.id) end as seats
      from private.editions
    ) as known
  );
end
$$;

-- Waits until nobody reads or writes applications, and blocks reading and writing until the transaction ends. It also locks the
-- rows that a new edition changes, since other calls lock them before applications. A waiting lock request blocks all later
-- applicants, so each attempt waits only briefly, and all attempts together less than a statement may take.
create or replace function private.hold_applications() returns void
  language plpgsql set search_path = '' set lock_timeout = '100ms'
as $$
begin
  for attempt in 1 .. 20 loop
    begin
      lock table public.retreat_applications in access exclusive mode;
      perform from private.door for update;
      perform from private.editions order by id for update;
      perform from private.places for update;
      perform from private.templates order by name for update;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'Applications are being read at this moment, such as for a backup. Please try again in some minutes.'
    using errcode = 'PT503';
end
$$;

-- The drafts with their template's text, filled in. Placeholders that are blank or unknown stay in the text, so that the draft
-- cannot be sent before an organiser edits it. So do all placeholders if the text would be too long.
create function private.filled_drafts() returns setof private.letters
  language sql stable set search_path = ''
as $$
  select draft.*
  from private.letters as letter join private.templates as former on former.name = letter.template
    join public.retreat_applications as application on application.id = letter.application_id
    cross join lateral private.filled(former.subject, former.body, application, false) as text
    cross join lateral jsonb_populate_record(letter, case when (text ->> 'is_long')::boolean
      then jsonb_build_object('subject', former.subject, 'body', former.body) else text end) as draft
  where letter.state = 'draft' and letter.subject is null
$$;

revoke all on function private.filled_drafts() from public, anon, authenticated;

-- Gives drafts that still have their template's text these texts.
create function private.keep_texts(drafts private.letters[]) returns void
  language sql set search_path = ''
as $$
  update private.letters as letter set version = letter.version + 1, subject = filled.subject, body = filled.body
    from unnest(drafts) as filled
    where letter.id = filled.id and letter.state = 'draft' and letter.subject is null
$$;

revoke all on function private.keep_texts(private.letters[]) from public, anon, authenticated;

drop function private.reset_templates();

-- Sets the product's templates to their first texts and removes the organisers' own templates that have no draft. A letter that
-- can still be stopped counts as a draft, since it becomes one then. Drafts keep the texts that they have. `drafts`: the result of
-- `private.filled_drafts` before the applications were locked, so that few are filled in meanwhile.
create function private.reset_templates(drafts private.letters[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.keep_texts(drafts);
  perform private.keep_texts(array(select draft from private.filled_drafts() as draft));
  -- A letter that can still be stopped becomes a draft with the text that would have been sent.
  update private.letters as letter set subject = delivery.subject, body = delivery.body
    from private.deliveries as delivery
    where delivery.letter_id = letter.id and private.is_main(delivery) and delivery.state in ('waiting', 'sending', 'failed')
      and letter.state = 'released' and letter.subject is null;
  delete from private.templates as own where kind = 'other' and not exists (
    select from private.letters
    where template = own.name and (state = 'draft' or state = 'released' and private.is_undelivered(id))
  );
  update private.templates as former set subject = first.subject, body = first.body, version = former.version + 1
    from private.first_templates() as first
    where first.name = former.name and (first.subject, first.body) is distinct from (former.subject, former.body);
end
$$;

revoke all on function private.reset_templates(private.letters[]) from public, anon, authenticated;

-- Begins the next edition at once: from now on, applications belong to it. `newest` is the number of the newest edition that the
-- organiser saw. `copied` says what the previous edition passes on: {templates, questions, places}, each a boolean. The door
-- stays open or closed, also if a limit closed it, and its count of applications begins at 0. For an hour, an application that the
-- previous edition already has is not stored again. Repeating the act changes nothing.
create or replace function public.desk_begin_edition(
  act uuid, newest integer, name text, starts_on date, ends_on date, copied jsonb
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  start timestamptz;
  keeps_templates constant boolean := coalesce((copied ->> 'templates')::boolean, false);
  drafts private.letters[];
begin
  name := btrim(coalesce(name, ''), E' \t\r\n');
  if name = '' or char_length(name) > 100 or name ~ '[[:cntrl:]]' then
    raise exception 'A retreat has a name of 1 to 100 characters.' using errcode = '22023';
  elsif jsonb_typeof(copied) is distinct from 'object' then
    raise exception '“copied” has to be an object.' using errcode = '22023';
  end if;
  perform private.check_days(starts_on, ends_on);
  if not private.begin_act(
    act, 'desk_begin_edition', newest::text, name, starts_on::text, ends_on::text, copied::text
  ) then
    return public.desk_places();
  end if;
  if not keeps_templates then
    -- Takes seconds for ten thousands of drafts. Nobody changes a template meanwhile.
    perform from private.templates order by templates.name for no key update;
    begin
      drafts := array(select draft from private.filled_drafts() as draft);
    exception when query_canceled then
      raise exception 'There are too many drafts to keep their texts. Send or drop some, or copy the templates.'
        using errcode = '22023';
    end;
  end if;
  perform private.hold_applications();
  select * into former from private.editions order by id desc limit 1 for update;
  if former.id is distinct from newest then
    raise exception 'Somebody else has begun a retreat meanwhile.' using errcode = 'PT409';
  end if;
  start := clock_timestamp();
  insert into private.editions (id, name, began_at, since, starts_on, ends_on)
    values (former.id + 1, desk_begin_edition.name, start, start, desk_begin_edition.starts_on, desk_begin_edition.ends_on);
  -- If the clock was ahead, applications may have times later than now.
  update private.editions set before = greatest(start, (
      select max(created_at) + interval '1 microsecond' from public.retreat_applications
    )), places = (select places.places from private.places)
    where id = former.id;
  execute format('alter table public.retreat_applications alter column edition set default %s', former.id + 1);
  update private.door set version = (private.door_state() ->> 'version')::integer + 1,
    closed = closed or coalesce(received >= closes_after, false), received = 0, opened_at = start, edition_since = start,
    repeats_until = start + interval '1 hour';
  -- The version changes in any case: an organiser may be editing the number of the former retreat.
  update private.places set version = version + 1;
  if (copied ->> 'places')::boolean is not true then
    update private.places set places = null, days = 10;
  end if;
  if (copied ->> 'questions')::boolean then
    insert into private.questions (edition, position, kind, text, choices, is_required, is_private)
      select former.id + 1, position, kind, text, choices, is_required, is_private
      from private.questions where edition = former.id;
    update private.editions set private_days = former.private_days where id = former.id + 1;
  end if;
  if not keeps_templates then
    perform private.reset_templates(drafts);
  end if;
  insert into private.history (act, author, kind, detail)
    values (desk_begin_edition.act, me.email, 'edition', jsonb_build_object('edition', former.id + 1, 'name', desk_begin_edition.name));
  return public.desk_places();
end
$$;

-- Clears the problem that delays all emails, and the suspects: the mail server has accepted an email. One whose try began before
-- the last refusal proves nothing.
create function private.accept_mail(began_at timestamptz) returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.postman
    set failures = 0, problem = '', failing_since = null, paused_until = least(paused_until, now()), suspects = '{}'
    where (failures > 0 or problem <> '' or failing_since is not null or suspects <> '{}')
      and (refused_at <= began_at or refused_at > clock_timestamp());
end
$$;

revoke all on function private.accept_mail(timestamp with time zone) from public, anon, authenticated;

-- Clears the problem: the mail server has just accepted an email that is no delivery.
create or replace function private.clear_mail_problem() returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.accept_mail(clock_timestamp());
end
$$;

-- Delays all emails by a time that grows with each failure in a row. A concurrent failure changes nothing. Returns whether this
-- call delayed them.
create function private.back_off_mails(problem text) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  update private.postman as row
    set failures = failures + 1, problem = back_off_mails.problem, failing_since = coalesce(failing_since, now()),
      paused_until = now() + private.mail_back_off(failures + 1), refused_at = clock_timestamp()
    where paused_until <= now() or paused_until > clock_timestamp() + private.mail_back_off(failures);
  return found;
end
$$;

revoke all on function private.back_off_mails(text) from public, anon, authenticated;

-- The emails that are suspected: what was refused more than an hour ago says nothing about the mail server of now.
create function private.suspects() returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select case when refused_at between now() - interval '1 hour' and clock_timestamp() then suspects else '{}' end
    from private.postman
  );
end
$$;

revoke all on function private.suspects() from public, anon, authenticated;

-- Whether one email is sent at a time, and the next has to wait for its result: the mail server refused the last one for a reason
-- that may be about all emails. Tries that began before that refusal prove nothing, so nothing waits for them.
create function private.awaits_probe() returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from private.postman
    where (failures > 0 and paused_until <= now() or private.suspects() <> '{}') and exists (
      select from private.deliveries
      where kind in ('test', 'letter', 'notice', 'receipt') and state = 'sending' and due_at > now()
        and tried_at >= refused_at
    )
  );
end
$$;

revoke all on function private.awaits_probe() from public, anon, authenticated;

-- Identifies the recipient of an email.
create function private.recipient_of(delivery private.deliveries) returns text
  language sql stable set search_path = ''
as $$
  select coalesce(delivery.organiser_id::text, (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = delivery.application_id
  ))
$$;

revoke all on function private.recipient_of(private.deliveries) from public, anon, authenticated;

-- Records a refusal that is, or may be, about all emails. It is first recorded as the email's own, and the email becomes a suspect.
-- If the next email, to another recipient, is refused too, or if `is_ours`, all emails are delayed, and none of these tries
-- counts. If the next email is accepted, the record stays. It also stays if `is_cause` and no pause is under way: the email
-- itself began pauses too often. Returns the new state as `record_delivery` does, and `paused` or
-- `waits` if the try does not count: `paused` if this refusal delayed all emails.
create function private.record_refusal(
  delivery uuid, attempt integer, state text, pause interval, reply text, is_uncertain boolean, refused boolean,
  is_ours boolean, is_cause boolean, problem text
) returns text
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  postman private.postman;
  former uuid[];
  recorded text;
  is_pausing boolean;
begin
  select * into claimed from private.deliveries where id = delivery;
  recorded := private.record_delivery(delivery, attempt, record_refusal.state, pause,
    reply => record_refusal.reply, is_uncertain => record_refusal.is_uncertain, refused => record_refusal.refused);
  if recorded is null or recorded = 'cancelled' then return recorded; end if;
  -- After the delivery's row, as in `record_delivery`.
  select * into postman from private.postman for update;
  former := private.suspects();
  if postman.failures = 0 and is_cause then return recorded; end if;
  if is_ours or postman.failures > 0 or (claimed.tried_at >= postman.refused_at and exists (
    select from private.deliveries as suspect
    where id = any (former) and private.recipient_of(suspect) <> private.recipient_of(claimed)
  )) then
    is_pausing := private.back_off_mails(problem);
    -- Skips a suspect that somebody is acting on. An email that may have arrived too often stays given up.
    update private.deliveries as row set
        state = 'waiting', attempts = greatest(attempts - 1, 0), due_at = coalesce(due_at, now()), is_refused = false,
        tried_at = case when attempts > 1 then tried_at end, reply = case id when claimed.id then claimed.reply else '' end,
        closings = closings + (postman.failures = 0)::integer,
        subject = case id when claimed.id then claimed.subject else row.subject end,
        body = case id when claimed.id then claimed.body else row.body end
      where id in (
        select id from private.deliveries as own
        where (id = claimed.id or postman.failures = 0 and id = any (former))
          and (own.state = 'waiting' or own.state = 'failed' and is_refused or id = claimed.id and not record_refusal.is_uncertain)
          -- The text of a test is gone.
          and (kind <> 'test' or own.state = 'waiting' or id = claimed.id)
        for update skip locked
      );
    recorded := case when is_pausing then 'paused' else 'waits' end;
  end if;
  -- A pause has set the time. A suspect whose try began before the first refusal does not, since the probe may be under way.
  update private.postman set suspects = array_append(array_remove(former, delivery), delivery),
    refused_at = case when former = '{}' and is_pausing is null then clock_timestamp() else refused_at end;
  return recorded;
end
$$;

revoke all on function private.record_refusal(uuid, integer, text, interval, text, boolean, boolean, boolean, boolean, text) from public, anon, authenticated;

-- Whether another email is being sent to the same applicant, or an earlier letter has no result yet. Letters have to arrive in the
-- order of their release.
create or replace function private.is_busy(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  recipient text := (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = delivery.application_id
  );
begin
  return delivery.kind = 'letter' and exists (
    select from private.deliveries as earlier
    where earlier.application_id = delivery.application_id and earlier.kind = 'letter'
      and earlier.state in ('waiting', 'sending')
      and (earlier.queued_at, earlier.id) < (delivery.queued_at, delivery.id)
  ) or exists (
    select from private.deliveries as other join public.retreat_applications as theirs on theirs.id = other.application_id
    where other.kind in ('letter', 'receipt') and other.state = 'sending' and other.due_at > now() and other.id <> delivery.id
      and (other.application_id = delivery.application_id
        or private.person(private.address_of(theirs.id, theirs.email)) = recipient)
  );
end
$$;

-- Finds and locks the next email to send. Tests come first, since an organiser waits for them. Letters and notices follow.
-- Receipts come last: there may be as many as applications. Locked rows are skipped. The query joins no other table: for a
-- join, PostgreSQL would read all due emails to find the first. If the mail server refused emails for a reason that may be about
-- all, the next is to somebody else if possible, at least to somebody else than the last.
create or replace function private.due_mail(kinds text[], has_room boolean, out kind text, out id uuid)
  language plpgsql set search_path = ''
as $$
declare
  suspects constant uuid[] := private.suspects();
  skipped uuid[];
  moments record;
begin
  -- Skips all suspects, then the last, then none.
  for excess in reverse cardinality(suspects)..0 loop
    continue when excess not in (cardinality(suspects), 1, 0);
    skipped := suspects[cardinality(suspects) - excess + 1:];
    skipped := skipped || array(
      select application_id from private.deliveries as suspect
      where suspect.id = any (skipped) and suspect.kind in ('letter', 'receipt')
    );
    foreach kind in array '{test,letter,notice,receipt}'::text[] loop
      continue when not kind = any (kinds) or kind in ('notice', 'receipt') and not has_room;
      for moments in select * from private.due_moments() loop
        select delivery.id into due_mail.id from private.deliveries as delivery
          where delivery.kind = due_mail.kind and due_at >= moments.since and due_at <= moments.until and recalled_at is null
            -- Emails other than letters are not sent after a day.
            and (delivery.kind = 'letter' or queued_at > now() - interval '1 day')
            and delivery.id <> all (skipped)
            and (delivery.kind not in ('letter', 'receipt')
              or delivery.application_id <> all (skipped) and not private.is_busy(delivery))
          order by due_at limit 1 for update skip locked;
        if found then return; end if;
      end loop;
    end loop;
  end loop;
end
$$;

-- Claims the next email (`due_mail`) for one server and the duration of the lease; null if none is due or may be sent. It locks
-- the postman's row first and then checks again what is due: the previous holder of the lock may have claimed a letter to the
-- same person. In the order of locks, only invitations come after this row. `pace`: the time between two emails, null for none.
create or replace function private.claim_mail(pace interval, kinds text[] default '{test,letter,notice,receipt}') returns jsonb
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
  -- Writes nothing if no email is due, or none may be sent.
  if not private.may_leave(postman, pace) or private.awaits_probe() then return null; end if;
  due := private.due_mail(kinds, private.has_room(postman));
  if due.id is null then return null; end if;
  select * into postman from private.postman for update;
  if not private.may_leave(postman, pace) or private.awaits_probe() then return null; end if;
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

-- Requests a check of the mail server and the sender's domain; `desk_letters` has its findings. Within ten seconds of a request,
-- another request starts no further check.
create or replace function public.desk_check_mail() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  -- Later times are from before the clock was set back.
  update private.postman set check_wanted_at = now(), check_begun_at = least(check_begun_at, now() - interval '1 second'),
      checked_at = least(checked_at, now() - interval '1 second')
    where check_wanted_at not between now() - interval '10 seconds' and now();
  return jsonb_build_object('is_checking', true);
end
$$;

-- Sets the reply address, and whether receipts and confirmations are sent; null leaves a switch unchanged. Without a version, the
-- reply address is left unchanged, and no version is compared: a switch replaces only what the organiser saw.
create or replace function public.desk_set_letters(
  version integer, reply_to text, receipts boolean default null, confirmations boolean default null
) returns jsonb
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
  kept.reply_to := case when version is null then former.reply_to else coalesce(reply_to, '') end;
  version := coalesce(version, former.version);
  kept.version := version + 1;
  kept.receipts := coalesce(desk_set_letters.receipts, former.receipts);
  kept.confirmations := coalesce(desk_set_letters.confirmations, former.confirmations);
  if former.version = desk_set_letters.version then
    update private.letter_settings as settings
      set version = kept.version, reply_to = kept.reply_to, receipts = kept.receipts, confirmations = kept.confirmations;
    if kept.reply_to <> former.reply_to then
      perform private.write_down_letters(me.email, jsonb_build_object('reply_to', kept.reply_to));
    end if;
    if former.receipts and not kept.receipts then
      perform private.recall(array(
        select id from private.deliveries where kind = 'receipt' and state = 'waiting' for update skip locked
      ), me.email);
    end if;
    if kept.receipts <> former.receipts then
      perform private.write_down_letters(me.email, jsonb_build_object('receipts', kept.receipts));
    end if;
    if kept.confirmations <> former.confirmations then
      perform private.write_down_letters(me.email, jsonb_build_object('confirmations', kept.confirmations));
    end if;
  elsif kept is distinct from former then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return jsonb_build_object('version', kept.version, 'reply_to', kept.reply_to, 'receipts', kept.receipts,
    'confirmations', kept.confirmations);
end
$$;

drop function private.applications_of(text);

-- The applications of some emails, the newest first: those that gave one of them, and those whose address organisers ever replaced
-- with one of them.
create function private.applications_of(emails text[]) returns uuid[]
  language plpgsql stable set search_path = ''
as $$
declare
  people constant text[] := array(select private.person(email) from unnest(emails) as email);
begin
  return array(
    select id from public.retreat_applications
    where private.person(email) = any (people) or id = any (array(
      select application_id from private.addresses where private.person(address) = any (people)
      union select application_id from private.history
        where kind = 'address' and private.person(detail ->> 'address') = any (people)
    ))
    order by created_at desc, id desc
  );
end
$$;

revoke all on function private.applications_of(text[]) from public, anon, authenticated;

-- The emails of an application: the one that it gave, and all with which organisers replaced it.
create function private.emails_of(application uuid) returns text[]
  language sql stable set search_path = ''
as $$
  select array(
    select email from public.retreat_applications where id = application
    union select address from private.addresses where application_id = application
    union select detail ->> 'address' from private.history where application_id = application and kind = 'address'
  )
$$;

revoke all on function private.emails_of(uuid) from public, anon, authenticated;

drop function private.account_of(text);

-- The account with an email; null if there is none. `reader`: the organiser who reads it. Of another's account they get `email`
-- and `organiser_since`, and the rest is null: it would tell what a colleague has marked. Null for an operator, who gets all, and
-- what is stored under the email of a removed account, which reads whole tables. `organiser_since` is null unless it is an
-- organiser's.
create function private.account_of(email text, reader uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object('email', asked.email, 'organiser_since', organiser.created_at) || case
      when reader <> users.id then
        '{"created_at": null, "last_sign_in_at": null, "blind": null, "reads_only": null, "notices": null, "history": null, "marks": null}'
      else jsonb_build_object(
        'created_at', users.created_at, 'last_sign_in_at', last_sign_in_at,
        'blind', blind, 'reads_only', reads_only, 'notices', notices,
        'history', (
          select count(*) from private.history where author_id = users.id or users.id is null and author = asked.email
        ),
        'marks', (
          select count(*) from private.marks where marks.account_id = users.id or users.id is null and author = asked.email
        ))
      end
    from (select private.unicode_email(lower(private.trimmed(account_of.email))) as email) as asked
      left join auth.users on users.email = private.ascii_email(asked.email)
      left join private.organisers as organiser on organiser.account_id = users.id
    where users.id is not null or reader is null and (
      exists (select from private.history where author = asked.email)
      or exists (select from private.marks where author = asked.email)
      or exists (select from private.holds where held_by = asked.email)
      or exists (select from private.deliveries where author = asked.email)
    )
    -- In a hosted project, several accounts may have one email.
    order by organiser.created_at, users.id limit 1
  );
end
$$;

revoke all on function private.account_of(text, uuid) from public, anon, authenticated;

drop function private.all_about(text, uuid, integer);

-- Everything about the person of an email: {email, applications, left_out, account}. At most `most` applications, the newest
-- first, and `left_out` counts the others. `others`: more emails of this person.
create function private.all_about(
  email text, reader uuid default null, most integer default null, others text[] default '{}'
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  applications constant uuid[] := private.applications_of(others || all_about.email);
begin
  return jsonb_build_object(
    'email', all_about.email,
    'applications', (
      select coalesce(jsonb_agg(private.all_about_application(id, reader) order by position), '[]')
      from unnest(applications[:coalesce(most, cardinality(applications))]) with ordinality as one (id, position)
    ),
    'left_out', greatest(0, cardinality(applications) - most),
    'account', private.account_of(all_about.email, reader)
  );
end
$$;

revoke all on function private.all_about(text, uuid, integer, text[]) from public, anon, authenticated;

-- Everything about the person of an application, with their hundred newest applications, by all emails of this one.
create or replace function public.desk_all_about(application uuid) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  person_email text := (select email from public.retreat_applications where id = application);
begin
  if me.blind then
    raise exception 'Everything about a person is hidden while you read blind.' using errcode = '42501';
  elsif person_email is null then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return private.all_about(person_email, me.id, 100, private.emails_of(application));
end
$$;

-- The applications whose erasing servers announce: {applications, from, days}, or null. `from`: the day of the first erasing.
-- `days`: on how many days they were announced so far.
create or replace function private.announced_applications() returns jsonb
  language sql stable set search_path = ''
as $$
  select case when count(*) > 0 then jsonb_build_object('applications', sum(counted.applications),
    'from', min(announced_on + greatest(private.days_to_announce(round) - days, 0)), 'days', max(days)) end
  from private.announcements as round cross join lateral (
    select count(*) as applications from private.due_applications(edition, until, 10001)
  ) as counted
  where subject = 'applications' and counted.applications > 0
$$;

drop function private.erase_due_applications(integer, date, integer);

-- Erases up to `most` applications of an edition that are due on or before a day. Returns their number. `unchanged_since`: leaves
-- out those with a decision or an RSVP since then, which may have become due only thereby.
create function private.erase_due_applications(
  edition integer, day date, most integer, unchanged_since date default null
) returns integer
  language plpgsql set search_path = ''
as $$
declare
  due uuid[] := array(select private.due_applications(edition, day, most));
  erased integer;
begin
  -- Locked in the same order as for decisions, to avoid a deadlock.
  perform from public.retreat_applications where id = any (due) order by id for update;
  -- Checked again under the lock, since an organiser may have put a hold on one meanwhile.
  delete from public.retreat_applications as application
    where id = any (due) and private.erased_on(application) <= day and not exists (
      select from private.history
      where application_id = application.id and kind in ('status', 'answer') and at >= unchanged_since
    );
  get diagnostics erased = row_count;
  return erased;
end
$$;

revoke all on function private.erase_due_applications(integer, date, integer, date) from public, anon, authenticated;

-- Announces applications that will be erased within six days, and erases up to `most` of those that were announced on seven days.
-- Servers call this regularly, and again at once as long as it erases some: each call is short, and no insert waits for it. The
-- result is {erased, announced}. `announced`: the result of `private.announced_applications` once a day, otherwise null.
create or replace function private.keep_applications(most integer) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  today constant date := private.today();
  shown integer;
  announcement record;
  gone integer := 0;
  is_new boolean := false;
begin
  for shown in
    select id from private.editions, private.retention
    where ends_on + make_interval(months => least(months, months_for_guests)) <= today + 6
      or exists (select from private.announcements where edition = id and subject = 'applications')
    order by id
  loop
    if exists (select from private.due_applications(shown, today + 6, 1)) then
      announcement := private.announce(shown, 'applications');
      is_new := is_new or announcement.is_new;
      continue when announcement.erasable_until is null;
      gone := private.erase_due_applications(shown, announcement.erasable_until, most, (
        -- The day before the first announcement, in case the time zones differ.
        select until - 7 from private.announcements where edition = shown and subject = 'applications'));
      update private.announcements as round set erased = round.erased + gone
        where edition = shown and subject = 'applications';
      exit when gone > 0;
    end if;
    perform private.end_announcements(shown, 'applications');
  end loop;
  return jsonb_build_object('erased', gone, 'announced', case when is_new then private.announced_applications() end);
end
$$;

-- How long applications are kept: {version, months, months_for_guests, due, announced, editions, holds}. `due`: the number of
-- applications that are due today. `editions`: [{id, name, ends_on, erased_on, guests_erased_on}], the newest first. `holds`: the
-- hundred applications on which a hold was put last: [{id, first_name, last_name, reason, held_by, held_at}]. Blind readers get
-- no names and reasons.
create or replace function public.desk_retention() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object(
      'version', version, 'months', months, 'months_for_guests', months_for_guests,
      'due', private.count_due_applications(),
      'announced', private.announced_applications(),
      'editions', (
        select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'ends_on', ends_on,
          'erased_on', (ends_on + make_interval(months => months))::date,
          'guests_erased_on', (ends_on + make_interval(months => months_for_guests))::date) order by id desc)
        from private.editions
      ),
      'holds', (
        select coalesce(jsonb_agg(jsonb_build_object('id', application_id, 'held_by', held_by, 'held_at', held_at)
          || case when me.blind then '{}' else names || jsonb_build_object('reason', reason) end
          order by held_at desc, application_id), '[]')
        from (
          select application_id, held_by, held_at, holds.reason, private.names(application) as names
          from private.holds join public.retreat_applications as application on id = application_id
          order by held_at desc, application_id limit 100
        ) as held
      ))
    from private.retention
  );
end
$$;

-- Erases at most 500 applications that are due, without announcements: on a hosted project, no server erases them. The result
-- is {erased, due}. `due` counts the applications that remain to be erased.
create or replace function public.desk_erase_due(act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  shown integer;
  erased integer;
  total integer := 0;
begin
  if not private.begin_act(act, 'desk_erase_due', '') then
    return coalesce((select result from private.acts where acts.act = desk_erase_due.act), (
      select jsonb_build_object('erased', sum((detail ->> 'erased')::integer), 'due', private.count_due_applications())
      from private.history where history.act = desk_erase_due.act
    ));
  end if;
  -- Locked in the same order as for decisions, of all editions before the first is erased, to avoid a deadlock.
  perform from public.retreat_applications where id in (
    select due from private.editions, private.due_applications(editions.id, private.today(), 500) as due
  ) order by id for update;
  for shown in select id from private.editions order by id loop
    erased := private.erase_due_applications(shown, private.today(), 500 - total);
    total := total + erased;
    if erased > 0 then
      insert into private.history (act, author, kind, detail)
        values (desk_erase_due.act, me.email, 'retention', jsonb_build_object('edition', shown, 'erased', erased));
    end if;
  end loop;
  return private.end_act(act, jsonb_build_object('erased', total, 'due', private.count_due_applications()));
end
$$;

drop function private.count_with_reminder(text, integer, boolean, date);
