-- Organisers: who they are, their names and their rights.

-- Whether the accounts are our own server's, and not a hosted project's.
create function private.has_own_accounts() returns boolean
  language sql stable set search_path = ''
  return to_regclass('private.signing_keys') is not null;

-- All organisers, by name or email, with what they may do, and who invited them. `can_invite`: whether our own server makes the
-- accounts.
create function private.organisers_shown() returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object('can_invite', private.has_own_accounts(), 'organisers', jsonb_agg(jsonb_build_object(
      'account', account_id, 'email', private.unicode_email(email), 'name', name, 'is_reader', is_reader,
      'has_signed_in', last_sign_in_at is not null, 'invited', (
        select jsonb_build_object('by', private.author_shown(author, author_id), 'at', at) from private.history
        where application_id is null and kind = 'organiser' and detail ->> 'invited' = account_id::text
        order by history.id desc limit 1
      )) order by lower(coalesce(name, email)), account_id))
    from private.organisers join auth.users on users.id = account_id
  );
end
$$;

-- Serialises changes of organisers, so that two of them cannot make each other readers, and returns the email of one. Refuses if
-- nobody may do everything afterwards. `stays`: whether this organiser still may.
create function private.organiser_to_change(account uuid, stays boolean) returns text
  language plpgsql set search_path = ''
as $$
declare
  person text;
begin
  perform pg_advisory_xact_lock(5610751);
  select private.unicode_email(email) into person from private.organisers join auth.users on users.id = account_id
    where account_id = account;
  if person is null then
    raise exception 'There is no such organiser: somebody may have removed them.' using errcode = 'PT404';
  elsif not stays and not exists (select from private.organisers where account_id <> account and not is_reader) then
    raise exception 'Let another organiser do everything first: somebody has to.' using errcode = '22023';
  end if;
  return person;
end
$$;

-- Records a change of an organiser. If a server sends emails, it tells that organiser, unless they were removed or invited, and
-- everybody who may do everything. `detail`: the email (`organiser`), and what changed: `is_reader`, `is_removed`, or the account
-- that was `invited`.
create function private.write_down_organiser(author text, detail jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  with event as (
    insert into private.history (author, kind, detail)
      values (write_down_organiser.author, 'organiser', write_down_organiser.detail) returning id
  )
  insert into private.deliveries (kind, organiser_id, event_id)
    select 'notice', account_id, event.id
    from event, private.postman, private.organisers join auth.users on users.id = account_id
    where private.is_recent(seen_at) and (not is_reader
      or detail ? 'is_reader' and not detail ? 'invited' and private.unicode_email(email) = detail ->> 'organiser');
end
$$;

-- Lets an organiser do everything, or only read, mark and write notes. The last organiser who may do everything stays one.
create function private.set_reader(account uuid, is_reader boolean, author text) returns void
  language plpgsql set search_path = ''
as $$
declare
  person text;
begin
  if set_reader.is_reader is null then
    raise exception '“is_reader” has to be true or false.' using errcode = '22023';
  end if;
  person := private.organiser_to_change(account, not set_reader.is_reader);
  update private.organisers set is_reader = set_reader.is_reader
    where account_id = account and organisers.is_reader <> set_reader.is_reader;
  if found then
    perform private.write_down_organiser(set_reader.author,
      jsonb_build_object('organiser', person, 'is_reader', set_reader.is_reader));
  end if;
end
$$;

-- An author as organisers read it: the organiser's name, otherwise `author`, which is the email at the time of the act. Tables
-- without the author's account find the organiser by that email. Names are read with the acts, so that a new name is shown
-- everywhere.
create function private.author_shown(author text, account uuid default null) returns text
  language sql stable set search_path = ''
as $$
  select coalesce((
    select name from private.organisers join auth.users on users.id = account_id
    where name is not null and account_id = coalesce(account, account_id)
      and (account is not null or private.unicode_email(email) = author)
    limit 1
  ), author)
$$;

-- An organiser's name as it looks: without characters that show nothing. Names that look the same are the same.
create function private.name_as_seen(name text) returns text
  language sql immutable set search_path = ''
  return lower(translate(normalize(name, nfkc), replace(private.blanks(), ' ', ''), '') collate "und-x-icu");

-- Sets an organiser's name; a blank one removes it. Nobody gets the name of another organiser, an address, or a word that the
-- history uses for other authors. Of the characters that show nothing, only two joiners are allowed, which some scripts need.
create function private.set_organiser_name(account uuid, name text) returns void
  language plpgsql set search_path = ''
as $$
declare
  new_name text := nullif(private.trimmed(coalesce(name, '')), '');
begin
  if char_length(new_name) > 60 or new_name like '%@%'
    or translate(new_name, translate(private.blanks(), E' \u200c\u200d', ''), '') <> new_name
  then
    raise exception 'A name has at most 60 characters, no “@” and no invisible characters.' using errcode = '22023';
  elsif private.name_as_seen(new_name) in ('applicant', 'operator', 'server') or exists (
    select from private.organisers
    where account_id <> set_organiser_name.account and private.name_as_seen(organisers.name) = private.name_as_seen(new_name)
  ) then
    raise exception 'Somebody else has this name. Add a surname or an initial.' using errcode = '22023';
  end if;
  update private.organisers set name = new_name where account_id = set_organiser_name.account;
end
$$;
