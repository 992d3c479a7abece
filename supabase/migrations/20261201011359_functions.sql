-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.

-- The token of a link in an email as it is stored; null if the text is none.
create or replace function private.stored_token(token text) returns uuid
  language sql immutable parallel safe
as $$
  select case when token ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then token::uuid end
$$;

revoke all on function private.stored_token(text) from public, anon, authenticated;

-- Whether something happened within this span until now.
create or replace function private.happened_within(moment timestamptz, span interval) returns boolean
  language sql volatile parallel safe
  return moment >= now() - span and moment <= clock_timestamp();

revoke all on function private.happened_within(timestamp with time zone, interval) from public, anon, authenticated;

-- Whether a time is still ahead. `most`: how far ahead it can be.
create or replace function private.is_ahead(moment timestamptz, most interval) returns boolean
  language sql volatile parallel safe
  return moment > now() and moment <= clock_timestamp() + most;

revoke all on function private.is_ahead(timestamp with time zone, interval) from public, anon, authenticated;

-- A time, or null if it is still ahead.
create or replace function private.if_past(moment timestamptz) returns timestamptz
  language sql volatile parallel safe
  return case when moment <= clock_timestamp() then moment end;

revoke all on function private.if_past(timestamp with time zone) from public, anon, authenticated;

-- Days as a person writes them: `12–15 June 2027`. Blank if they are not set. `application/page-words.ts` writes them the same
-- way.
create or replace function private.days_in_words(starts_on date, ends_on date) returns text
  language sql immutable
  return case
    when starts_on is null or ends_on is null then ''
    when starts_on = ends_on then to_char(starts_on, 'FMDD FMMonth YYYY')
    when extract(year from starts_on) <> extract(year from ends_on)
      then to_char(starts_on, 'FMDD FMMonth YYYY') || ' – ' || to_char(ends_on, 'FMDD FMMonth YYYY')
    when extract(month from starts_on) <> extract(month from ends_on)
      then to_char(starts_on, 'FMDD FMMonth') || ' – ' || to_char(ends_on, 'FMDD FMMonth YYYY')
    else to_char(starts_on, 'FMDD') || '–' || to_char(ends_on, 'FMDD FMMonth YYYY')
  end;

revoke all on function private.days_in_words(date, date) from public, anon, authenticated;

create or replace function private.keep_notices() returns void
  language plpgsql set search_path = ''
as $$ begin perform private.tidy_notices(); end $$;

create or replace function private.keep_answers() returns integer
  language plpgsql set search_path = ''
as $$ begin return private.announce_and_erase_answers(); end $$;

create or replace function private.keep_applications(most integer) returns jsonb
  language plpgsql set search_path = ''
as $$ begin return private.announce_and_erase_applications(most); end $$;

-- The organiser who added a person, as an author; null if the person applied.
create or replace function private.adder(application public.retreat_applications) returns text
  language plpgsql stable
as $$
begin
  return case when application.added_by is not null then private.author_shown(application.added_by) end;
end
$$;

revoke all on function private.adder(retreat_applications) from public, anon, authenticated;

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
  end || jsonb_build_object('added_by', private.adder(application))
$$;

-- The status and the RSVP of some applications, when they were withdrawn, whether the same email applied again to the same retreat,
-- and whether it applied to an earlier one. Blind readers do not learn about the same email. One query for all applications, since a
-- query for each would be too slow.
create or replace function private.summaries(applications uuid[], blind boolean) returns table (application_id uuid, summary jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    select standing.application_id, jsonb_build_object(
      'status', standing.status, 'version', standing.version, 'withdrawn_at', withdrawn_at, 'answer_state', answer_state, 'answer', answer, 'answered_at', answered_at,
      'kept_until', kept_until, 'same_email', not blind and exists (
        select from public.retreat_applications as other
        where private.person(other.email) = standing.person and other.id <> standing.application_id
          and other.edition = standing.edition
      ), 'applied_before', not blind and standing.edition > 1 and exists (
        select from public.retreat_applications as other
        where private.person(other.email) = standing.person and other.edition < standing.edition
      ))
    from unnest(applications) as one (id) join private.standings as standing on standing.application_id = one.id
      left join private.statuses as own on own.application_id = one.id;
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
    - '{id, created_at, consent, edition, added_by}'::text[]) as answers (name, answer), private.form_answers(application, true) as shown
$$;

-- What tells junk apart, of some applications that nobody added by hand, in their order. `same_reason` is a digest of the first thousand characters. It ends
-- after a second, with the applications that it has read by then.
create or replace function private.traits(ids uuid[]) returns table (
  id uuid, created_at timestamptz, person text, domain text, same_reason text, is_links boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  blanks constant text := '[' || private.blanks() || ']+';
  ends constant timestamptz := clock_timestamp() + interval '1 second';
begin
  for start in 1..cardinality(ids) by 50 loop
    exit when clock_timestamp() > ends;
    return query
      select application.id, application.created_at, private.person(email),
        lower(reverse(split_part(reverse(email), '@', 1))),
        -- Most blanks are spaces, for which `replace` is much faster.
        md5(regexp_replace(replace(lower(left(reason, 1000)), ' ', ''), blanks, '', 'g')),
        left(reason, 5000) ~* '^(?:[\s,;]*(?:https?://|www\.)\S+)+[\s,;]*$'
      from public.retreat_applications as application where application.id = any (ids[start:start + 49]) and added_by is null;
  end loop;
end
$$;

-- Whether an application is withdrawn.
create or replace function private.is_withdrawn(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.statuses where application_id = application and withdrawn_at is not null)
$$;

revoke all on function private.is_withdrawn(uuid) from public, anon, authenticated;

-- Refuses to send something to the applicant of a withdrawn application.
create or replace function private.refuse_withdrawn(application uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if private.is_withdrawn(application) then
    raise exception 'The applicant withdrew this application, so no letter is sent to them.' using errcode = 'PT409';
  end if;
end
$$;

revoke all on function private.refuse_withdrawn(uuid) from public, anon, authenticated;

-- The link in the receipt of an application; null if the site's address is unknown.
create or replace function private.withdrawal_link(application uuid) returns text
  language sql stable set search_path = ''
as $$
  select nullif(site, '') || '/withdraw/#' || token
  from private.places cross join private.withdrawal_links where application_id = application
$$;

revoke all on function private.withdrawal_link(uuid) from public, anon, authenticated;

-- The application of a receipt's link; null if the token is unknown, or its application is not of the newest edition.
create or replace function private.application_of_receipt(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application.id
  from private.withdrawal_links as link join public.retreat_applications as application on application.id = link.application_id
  where link.token = private.stored_token(application_of_receipt.token)
    and application.edition = (select max(id) from private.editions)
$$;

revoke all on function private.application_of_receipt(text) from public, anon, authenticated;

-- Withdraws an application, or takes that back. The caller has locked the application. Its letters that were not sent are dropped,
-- and those to one person become drafts, which nobody can send while it is withdrawn. The status and its version stay: the number
-- of decisions is the same.
create or replace function private.set_withdrawn(application uuid, act uuid, is_withdrawn boolean) returns void
  language plpgsql set search_path = ''
as $$
begin
  insert into private.statuses (application_id, status, version) values (application, 'new', 0) on conflict do nothing;
  update private.statuses set withdrawn_at = case when set_withdrawn.is_withdrawn then now() end
    where application_id = application and (withdrawn_at is not null) <> set_withdrawn.is_withdrawn;
  if not found then return; end if;
  perform private.write_down(
    application, act, 'applicant', 'withdrawal', jsonb_build_object('is_withdrawn', set_withdrawn.is_withdrawn));
  if set_withdrawn.is_withdrawn then perform private.drop_letters(application); end if;
  perform private.write_event_notices(application, act);
end
$$;

revoke all on function private.set_withdrawn(uuid, uuid, boolean) from public, anon, authenticated;

-- Takes a withdrawal back if the same form answers are sent again, in place of storing them. Otherwise they would count as a
-- repeat, and applicants would read that they have applied. It runs before the insert, since a repeat ends the statement.
create or replace function private.revive_withdrawn() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  same uuid;
begin
  -- Most retreats have none, and then an insert only looks into an empty index. Only applicants take a withdrawal back, and not
  -- organisers who add somebody.
  if new.added_by is not null or not exists (select from private.statuses where withdrawn_at is not null) then return new; end if;
  -- The unique index finds it.
  select id into same from public.retreat_applications as former
    where former.edition = new.edition and private.answers_digest(former) = private.answers_digest(new);
  if not private.is_withdrawn(same) then return new; end if;
  perform private.lock_for_letters(array[same]);
  -- Checked again under the lock: another request may have been quicker, and this one is a repeat.
  if not private.is_withdrawn(same) then return new; end if;
  perform private.set_withdrawn(same, gen_random_uuid(), false);
  return null;
end
$$;

-- The calls that readers may make. All other calls, such as one that is added later, are refused to them.
create or replace function private.reader_calls() returns text[]
  language sql immutable parallel safe set search_path = ''
as $$
  select array[
    -- Themselves, and how they read.
    'desk_me', 'desk_set_name', 'desk_blind', 'desk_set_blind', 'desk_set_reads_only', 'desk_notices', 'desk_set_notices',
    -- Reading and searching.
    'desk_list', 'desk_refresh', 'desk_application', 'desk_stamp',
    -- Marks and notes.
    'desk_mark', 'desk_note', 'desk_see_notes'
  ]
$$;

revoke all on function private.reader_calls() from public, anon, authenticated;

drop function if exists private.caller();

-- The calling organiser; other callers are refused, and so are readers if the call is not theirs. The email is as people read it,
-- also as the author in the history. Each desk function calls this first, as its own statement: the planner chooses the order of
-- conditions in a `where`.
create or replace function private.caller(out id uuid, out email text, out blind boolean, out is_reader boolean)
  language plpgsql stable set search_path = ''
as $$
declare
  stack text;
begin
  if not private.is_organiser() then
    raise exception 'permission denied: not an organiser' using errcode = '42501';
  end if;
  select users.id, private.unicode_email(users.email), organisers.blind, organisers.is_reader
    into caller.id, caller.email, caller.blind, caller.is_reader
    from private.organisers join auth.users on users.id = account_id where account_id = auth.uid();
  if caller.is_reader then
    -- PostgreSQL says which call this is, so no call can forget its name or give another one. The innermost comes first.
    get diagnostics stack = pg_context;
    if substring(stack from 'public\.(desk_\w+)\(') = any (private.reader_calls()) is not true then
      raise exception 'Readers may not do this: ask an organiser who may do everything.' using errcode = '42501';
    end if;
  end if;
end
$$;

revoke all on function private.caller() from public, anon, authenticated;

-- Whether the accounts are our own server's, and not a hosted project's.
create or replace function private.has_own_accounts() returns boolean
  language sql stable set search_path = ''
  return to_regclass('private.signing_keys') is not null;

revoke all on function private.has_own_accounts() from public, anon, authenticated;

-- All organisers, by name or email, with what they may do, and who invited them. `can_invite`: whether our own server makes the
-- accounts.
create or replace function private.organisers_shown() returns jsonb
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

revoke all on function private.organisers_shown() from public, anon, authenticated;

-- Serialises changes of organisers, so that two of them cannot make each other readers, and returns the email of one. Refuses if
-- nobody may do everything afterwards. `stays`: whether this organiser still may.
create or replace function private.organiser_to_change(account uuid, stays boolean) returns text
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

revoke all on function private.organiser_to_change(uuid, boolean) from public, anon, authenticated;

-- Records a change of an organiser. If a server sends emails, it tells everybody who may do everything. `detail`: the email
-- (`organiser`), and what changed: `is_reader`, `is_removed`, or the account that was `invited`.
create or replace function private.write_down_organiser(author text, detail jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  with event as (
    insert into private.history (author, kind, detail)
      values (write_down_organiser.author, 'organiser', write_down_organiser.detail) returning id
  )
  insert into private.deliveries (kind, organiser_id, event_id)
    select 'notice', account_id, event.id from event, private.organisers, private.postman
    where not is_reader and private.is_recent(seen_at);
end
$$;

revoke all on function private.write_down_organiser(text, jsonb) from public, anon, authenticated;

-- Lets an organiser do everything, or only read, mark and write notes. The last organiser who may do everything stays one.
create or replace function private.set_reader(account uuid, is_reader boolean, author text) returns void
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

revoke all on function private.set_reader(uuid, boolean, text) from public, anon, authenticated;

-- An author as organisers read it: the organiser's name, otherwise `author`, which is the email at the time of the act. Tables
-- without the author's account find the organiser by that email. Names are read with the acts, so that a new name is shown
-- everywhere.
create or replace function private.author_shown(author text, account uuid default null) returns text
  language sql stable set search_path = ''
as $$
  select coalesce((
    select name from private.organisers join auth.users on users.id = account_id
    where name is not null and account_id = coalesce(account, account_id)
      and (account is not null or private.unicode_email(email) = author)
    limit 1
  ), author)
$$;

revoke all on function private.author_shown(text, uuid) from public, anon, authenticated;

-- Sets an organiser's name; a blank one removes it. Nobody gets the name of another organiser, an address, or a word that the
-- history uses for other authors.
create or replace function private.set_organiser_name(account uuid, name text) returns void
  language plpgsql set search_path = ''
as $$
declare
  new_name text := nullif(private.trimmed(coalesce(name, '')), '');
begin
  if char_length(new_name) > 60 or new_name ~ '[[:cntrl:]@]' then
    raise exception 'A name has at most 60 characters, and no “@”.' using errcode = '22023';
  elsif lower(new_name) in ('applicant', 'operator', 'server') or exists (
    select from private.organisers
    where account_id <> set_organiser_name.account and lower(organisers.name) = lower(new_name)
  ) then
    raise exception 'Somebody else has this name. Add a surname or an initial.' using errcode = '22023';
  end if;
  update private.organisers set name = new_name where account_id = set_organiser_name.account;
end
$$;

revoke all on function private.set_organiser_name(uuid, text) from public, anon, authenticated;

drop function if exists private.application_details(uuid, boolean);

-- One application with everything that is known about it. Blind readers get the details of some kinds of events only; of the
-- others they see only the kind, the author and the time. `hides_private`: private answers are hidden from others, too.
create or replace function private.application_details(application uuid, blind boolean, hides_private boolean default false) returns jsonb
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
        'act', act, 'at', at, 'author', private.author_shown(author, author_id), 'kind', kind,
        'detail', case
          when not blind or kind in ('status', 'note', 'revealed', 'told', 'answer', 'questions', 'kept', 'link', 'returned', 'added',
              'withdrawal')
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
      select jsonb_build_object('reason', case when not blind then reason end, 'held_by', private.author_shown(held_by), 'held_at', held_at)
      from private.holds where application_id = application
    ),
    'questions', case
      when exists (select from private.invitations where application_id = application and is_accepted and rsvp = 'coming')
        or exists (select from private.question_answers where application_id = application)
      then private.questions_of(application, application_row.edition, not (blind or hides_private))
      else '[]' end,
    'others', case when blind then '[]' else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'edition', edition, 'company', left(company, 200), 'status', status)), '[]')
      from (
        select id, other.created_at, other.edition, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where private.person(email) = private.person(application_row.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

revoke all on function private.application_details(uuid, boolean, boolean) from public, anon, authenticated;

-- The organisers' work on some applications, for the exported table: when and by whom the status was last changed, the notes, and
-- the state of the letters. It also has the time of a withdrawal, the RSVP, and the answers to questions that are not private. It has no address and no
-- text of a letter, so that organisers who read blind may read it.
create or replace function private.made_of(applications uuid[]) returns table (application_id uuid, made jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    with happened as (
      select history.application_id as id,
        (array_agg(coalesce(name, author) order by history.id desc) filter (where kind = 'status'))[1] as author,
        max(at) filter (where kind = 'status') as decided_at,
        jsonb_agg(jsonb_build_object('at', at, 'author', coalesce(name, author), 'note', detail ->> 'note') order by history.id)
          filter (where kind = 'note') as notes
      from private.history left join private.organisers on account_id = author_id
      where history.application_id = any (applications) and kind in ('status', 'note') group by 1
    ), written as (
      select delivery.application_id as id, jsonb_agg(jsonb_build_object(
        'occasion', occasion, 'way', way, 'state', state, 'otherwise', otherwise,
        'at', coalesce(done_at, queued_at)) order by queued_at, way = 'automation', delivery.id) as letters
      from private.letter_deliveries as delivery
      where delivery.application_id = any (applications) and state <> 'withdrawn' group by 1
    ), guests as (
      select given.application_id as id,
        jsonb_agg(jsonb_build_object('question', asked.text, 'answer', given.answer) order by asked.position) as questions
      from private.question_answers as given join private.questions as asked on asked.id = question_id
      where given.application_id = any (applications) and not is_private group by 1
    )
    select each_one, jsonb_build_object(
      'answer', answer, 'answered_at', answered_at, 'questions', coalesce(questions, '[]'), 'withdrawn_at', withdrawn_at,
      'decided_by', author, 'decided_at', decided_at,
      'notes', coalesce(notes, '[]'), 'letters', coalesce(letters, '[]'))
    from unnest(applications) as each_one
      left join happened on happened.id = each_one
      left join written on written.id = each_one
      left join guests on guests.id = each_one
      left join private.standings as standing on standing.application_id = each_one
      left join private.statuses as own on own.application_id = each_one;
end
$$;

drop function if exists private.edition_in(jsonb);

-- The edition that a filter names, otherwise the newest.
create or replace function private.edition_in(filter jsonb) returns integer
  language plpgsql stable set search_path = ''
as $$
declare
  wanted integer := (filter ->> 'edition')::integer;
  found_id integer;
begin
  select id into found_id from private.editions where wanted is null or id = wanted order by id desc limit 1;
  if not found then
    raise exception 'There is no such retreat.' using errcode = '22023';
  end if;
  return found_id;
end
$$;

revoke all on function private.edition_in(jsonb) from public, anon, authenticated;

-- The ids of the applications that pass a filter, in order, and the cursor for the next call, null at the end of the list. A call
-- reads up to `look` candidates, for up to a second, and fewer if they are costly to search. So it may return fewer than `most`
-- ids, even none, before the end of the list.
--
-- Without an edition, it finds those of the newest. Without a status, or with `all`, it leaves out the applications that were put
-- aside. With `new` or `shortlisted` it leaves out those that were withdrawn. All keys of the filter are optional: edition, status,
-- search, team_size, paid_solution, answer (an RSVP state), since, until, marks and order. Marks are `none of mine`, or `disagree`:
-- a visible Yes and a visible No. By default the newest are first. Other orders are `oldest`, `most yes` (the most visible Yes
-- first) and `shuffled` (for each account another order, which stays the same).
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
  edition integer := private.edition_in(jsonb_build_object('edition', coalesce(filter ->> 'edition', after ->> 'edition')));
  -- Sorts before every other id.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
  -- The list is between (since, since_id) and (before, before_id), both exclusive.
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  since_id uuid := first_id;
  before timestamptz := coalesce((filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := first_id;
  -- The parts of the query. `row_condition` is in its `where`, and `conditions` are its column `passes`.
  source text := 'public.retreat_applications as application';
  edition_column text := 'application.edition';
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
    edition_column := 'decided.edition';
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
  if wanted in ('new', 'shortlisted') and exists (select from private.statuses where withdrawn_at is not null) then
    -- Nobody has to read or decide them any more. They are in the list of all.
    conditions := array_append(conditions, 'not exists (
      select from private.statuses as own where own.application_id = id and own.withdrawn_at is not null)');
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
    -- Counts all visible marks in one subquery, instead of once for each application.
    source := source || ' left join (
      select application_id as marked_id, count(*)::integer as yes from private.visible_marks($14)
      where mark = ''yes'' group by 1) as tally on marked_id = id';
  end if;
  -- The text contains no values. They are parameters, which PostgreSQL knows when it plans the query.
  open candidates for execute format(
    'select %1$s, %2$s, %3$s, %4$s from %5$s
      where %8$s = $18 and %6$s and (%1$s) > ($1, $2) and (%1$s) < ($3, $4) order by %7$s limit $5',
    position, octets, array_to_string(conditions, ' and '), yes, source, row_condition, sequence, edition_column
  ) using since, since_id, before, before_id, look + 1, hits, query, blind, wanted,
    case wanted_rsvp when 'no answer' then array['no answer', 'late'] else array[wanted_rsvp] end,
    case when wanted_rsvp is not null then private.today() end,
    filter ->> 'team_size', filter ->> 'paid_solution', account,
    (after ->> 'yes')::integer, (after ->> 'created_at')::timestamptz, (after ->> 'id')::uuid, edition;
  loop
    fetch candidates into candidate_at, candidate_id, candidate_octets, passes, candidate_yes;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      next := jsonb_build_object('created_at', last_at, 'id', last_id, 'edition', edition)
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

-- The changes of a list that is shown. `shown` has its rows, {id, version}, at most the first thousand. `oldest` is the position
-- of the last row, whatever the order, and null if the list was read to its end. The result has the changed statuses, the ids of
-- erased and of withdrawn applications, the state of all letters, and the RSVPs by id. It also counts the applications that pass the filter and
-- are not shown: those `newer` than all rows, and the others (`older`). `more`: there may be more such applications. `unseen`,
-- their ids and times, is for desks that were opened before an update.
create or replace function private.list_changes(filter jsonb, shown jsonb, oldest jsonb, blind boolean, account uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- In these orders, a row's time says nothing of its position. So unseen applications are counted only if the list was read to
  -- its end.
  is_by_marks boolean := coalesce(filter ->> 'order', '') in ('most yes', 'shuffled');
  -- If the list was read to its end, only new applications are missing, so the newest are searched in every order.
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
      'withdrawn', (
        select coalesce(jsonb_agg(id), '[]')
        from of_list join private.statuses on application_id = id where withdrawn_at is not null
      ),
      'letters', private.letter_states(array(select id from of_list)),
      'marks', private.mark_counts(array(select id from of_list), account),
      'new_notes', private.with_new_notes(array(select id from of_list), account),
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

-- The number of applications of an edition that have a status, at most `most`.
create or replace function private.count_with_status(status text, edition integer, most integer) returns integer
  language sql stable set search_path = ''
as $$
  select count(*)::integer from (
    select from private.statuses as decided
    where decided.status = count_with_status.status and decided.edition = count_with_status.edition limit most
  ) as having_it
$$;

-- What came to an edition since the day before today began in a time zone: {day, new, replied}. `new` are its applications
-- without those that were put aside or withdrawn, and `replied` counts the applicants who gave an RSVP. Counts go up to a thousand.
create or replace function private.since_yesterday(edition integer, zone text) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  day constant date := (now() at time zone zone)::date - 1;
  start constant timestamptz := day::timestamp at time zone zone;
begin
  return jsonb_build_object(
    'day', day,
    'new', (
      select private.up_to_thousand(count(*)) from (
        select from public.retreat_applications as application left join private.statuses on application_id = id
        where application.edition = since_yesterday.edition and application.created_at >= start
          and status is distinct from 'aside' and withdrawn_at is null limit 1001
      ) as received
    ),
    'replied', (
      select private.up_to_thousand(count(*)) from (
        select distinct application_id
        from private.history join public.retreat_applications as application on application.id = application_id
        where kind = 'answer' and author = 'applicant' and at >= start
          and application.edition = since_yesterday.edition limit 1001
      ) as answered
    )
  );
end
$$;

revoke all on function private.since_yesterday(integer, text) from public, anon, authenticated;

-- The count of each status, up to a thousand, as its list has it: withdrawn applications are in that of all. The newest thousand applications that pass the filter are also counted by day in
-- the given time zone, by team size and by paid solution. `more`: there are more than were counted. A filter by RSVP applies only
-- to `accepted` and `all`: no other list of the desk has this filter.
create or replace function private.overview(filter jsonb, zone text, blind boolean, account uuid) returns jsonb
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
  withdrawn record;
  shown integer := private.edition_in(filter);
  new_ones record;
  put_aside record;
begin
  if filter - '{edition,status,order,answer}'::text[] <> '{}' then
    if filter ?| '{status,answer}'::text[] then
      in_any_status := private.find(filter - '{status,order,answer}'::text[], null, 1000, 1000, blind, account);
    end if;
    select jsonb_object_agg(name, jsonb_build_object('count', coalesce(count, 0), 'more', in_any_status.next is not null))
      into counts
      from unnest(statuses || 'all'::text) as name left join (
        select case when withdrawn_at is null or status = 'aside' then coalesce(status, 'new') end as name, count(*)
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
    select count(*) filter (where status = 'new') as new, count(*) filter (where status = 'shortlisted') as shortlisted
      into withdrawn from private.statuses where statuses.edition = shown and withdrawn_at is not null;
    foreach each_status in array statuses[2:] loop
      counted := private.count_with_status(each_status, shown, 20001);
      decided := decided + counted;
      -- The last status is `aside`. `all` does not include it.
      aside_count := counted;
      counts := counts || jsonb_build_object(each_status, private.up_to_thousand(
        counted - case when each_status = 'shortlisted' then withdrawn.shortlisted else 0 end));
    end loop;
    select count(*) into counted from (
      select from public.retreat_applications as application
      where application.edition = shown limit decided + withdrawn.new + 1001
    ) as application;
    counts := counts || jsonb_build_object('all', private.up_to_thousand(counted - aside_count));
    if decided <= 20000 then
      counts := counts || jsonb_build_object('new', private.up_to_thousand(counted - decided - withdrawn.new));
    else
      -- There are too many decisions to count. So new applications are searched: at least this many are new.
      new_ones := private.find(
        jsonb_build_object('status', 'new', 'edition', shown), null, 1000, 1000, blind, account);
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
      'counts', counts, 'editions', private.editions_shown(), 'acceptances', private.acceptances(shown),
      'since_yesterday', private.since_yesterday(shown, zone),
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

-- The marks that an organiser may see. Everything that shows, counts or sorts marks reads them here. The function sets no search
-- path, so that PostgreSQL can inline it. With subqueries in place of joins, PostgreSQL takes twice as long to read 100,000
-- marks.
create or replace function private.visible_marks(account uuid) returns setof private.marks
  language sql stable
as $$
  select marks.application_id, marks.account_id, coalesce(organisers.name, marks.author), marks.mark, marks.why, marks.at,
    marks.is_after_seeing, marks.has_seen, marks.was_shown
  from private.marks
    left join private.organisers using (account_id)
    left join private.marks as own on own.application_id = marks.application_id and own.account_id = account
    left join private.statuses as decided
      on decided.application_id = marks.application_id and private.is_decision(decided.status)
  where marks.mark is not null and (own.mark is not null or decided.status is not null)
$$;

-- Whether anybody has marked an application of an edition. Marks from before the edition began are not looked up, since there may
-- be many.
create or replace function private.is_marked(edition integer) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.editions
      join private.marks on marks.at >= editions.began_at
      join public.retreat_applications as application on application.id = marks.application_id
    where editions.id = is_marked.edition and mark is not null and application.edition = is_marked.edition
  )
$$;

revoke all on function private.is_marked(integer) from public, anon, authenticated;

-- For each application with visible marks: the organiser's own mark, the numbers of yes, maybe and no, and `by`: the author and
-- the mark of each.
create or replace function private.mark_counts(applications uuid[], account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_object_agg(application_id, counts), '{}') from (
    select application_id, jsonb_build_object('own', max(mark) filter (where account_id = account),
      'yes', count(*) filter (where mark = 'yes'), 'maybe', count(*) filter (where mark = 'maybe'),
      'no', count(*) filter (where mark = 'no'), 'by', jsonb_agg(jsonb_build_array(author, mark) order by author, account_id)) as counts
    from private.visible_marks(account) where application_id = any (applications) group by application_id
  ) as of_application
$$;

-- An organiser's own mark of an application, those of others, and who has not marked it (without those who only read). `others`
-- and `missing` are null while they are hidden. The whole result is null if there is only one organiser.
create or replace function private.marks_shown(application uuid, account uuid) returns jsonb
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
      select coalesce(jsonb_agg(coalesce(name, email) order by coalesce(name, email)), '[]')
      from private.organisers join auth.users on users.id = account_id
      where not reads_only and not exists (select from visible where visible.account_id = organisers.account_id)
    ) end
  ) from may_see where private.is_shared()
$$;

-- The time up to which an organiser has seen the notes about an application.
create or replace function private.notes_seen_until(application uuid, account uuid) returns timestamptz
  language sql stable set search_path = ''
as $$
  select greatest(notes_from, (
    select private.if_past(until) from private.seen_notes where application_id = application and seen_notes.account_id = account
  )) from private.organisers where account_id = account
$$;

revoke all on function private.notes_seen_until(uuid, uuid) from public, anon, authenticated;

-- Those of some applications that have a note of somebody else which an organiser has not seen.
create or replace function private.with_new_notes(applications uuid[], account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(distinct application_id), '[]') from private.history
  where application_id = any (applications) and kind = 'note' and author_id is distinct from account
    and at > private.notes_seen_until(application_id, account)
$$;

revoke all on function private.with_new_notes(uuid[], uuid) from public, anon, authenticated;

-- Announces private answers that will be erased within six days, and erases those that were announced on seven days. Servers call
-- this regularly. The result is the number of erased answers.
create or replace function private.announce_and_erase_answers() returns integer
  language plpgsql set search_path = ''
as $$
declare
  due record;
  erased integer := 0;
begin
  perform from private.editions order by id for key share;
  for due in
    select id, private.answers_erased_on(edition) as erased_on from private.editions as edition
    where private.answers_erased_on(edition) - 6 <= private.today() and exists (
      select from private.questions join private.question_answers on question_id = questions.id
      where questions.edition = edition.id and is_private
    )
    order by id
  loop
    if due.erased_on <= (select erasable_until from private.announce(due.id, 'answers')) then
      perform private.end_announcements(due.id, 'answers');
      erased := erased + private.erase_due_answers('server', array[due.id]);
    end if;
  end loop;
  return erased;
end
$$;

revoke all on function private.announce_and_erase_answers() from public, anon, authenticated;

-- Sends somebody a confirmation, which can be stopped like any letter. A person gets at most one an hour, and none is queued
-- unless a server that sends emails was seen in the last day. A letter that quotes a blank form answer stays a draft. If this
-- fails, the RSVP is still stored. The caller has locked the application.
create or replace function private.write_confirmation(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
declare
  drafted uuid;
  letter private.letters;
  text jsonb;
begin
  if not exists (
    select from private.letter_settings cross join private.postman
    where confirmations and seen_at > now() - interval '1 day'
  ) or exists (
    select from private.deliveries as delivery
    where delivery.application_id = application and private.is_confirmation(letter_id) and private.has_told(delivery)
      and private.happened_within(queued_at, '1 hour')
  ) then
    return;
  end if;
  drafted := private.draft_from_template(application, 'confirmed', true);
  -- Null: there is a draft already, or a letter that is pending or has failed.
  if drafted is null then return; end if;
  -- Uses the template's text, even if an organiser edited a draft for this person and removed it.
  update private.letters set subject = null, body = null where id = drafted returning * into letter;
  text := private.draft_text(letter, false);
  if text -> 'missing' = '[]' and text -> 'unknown' = '[]' and not (text ->> 'is_long')::boolean then
    update private.letters set state = 'released' where id = drafted;
    perform private.queue_letter(letter, 'letter', text, act, null);
    perform private.withdraw_receipt(application);
  end if;
exception when others then
  raise log 'An RSVP was stored without a confirmation (SQLSTATE %).', sqlstate;
end
$$;

-- Subject and body of a letter that came back, as they were before `as_sent`. A deadline that an organiser moved since stays as the
-- letter said it.
create or replace function private.as_unsent(delivery private.deliveries, out subject text, out body text)
  language sql stable set search_path = ''
as $$
  select coalesce(regexp_replace(delivery.subject, day, '{{reply_by}}', 'g'), delivery.subject),
    coalesce(regexp_replace(delivery.body, day, '{{reply_by}}', 'g'), delivery.body)
  from (
    select (
      select '\m' || private.with_deadline('{{reply_by}}', deadline) || '\M' from private.invitations
      where application_id = delivery.application_id and is_accepted and deadline is not null and delivery.kind = 'letter'
    ) as day
  ) as filled
$$;

revoke all on function private.as_unsent(private.deliveries) from public, anon, authenticated;

-- A text with a link filled in: `answer_link`, or `withdraw_link` in a receipt. Without a link (null), the paragraphs that need it
-- are left out.
create or replace function private.with_link(letter_text text, placeholder text, link text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  pattern constant text := '\{\{\s*' || placeholder || '\s*\}\}';
begin
  if link is null and letter_text ~ pattern then
    letter_text := array_to_string(array(
      select paragraph
      from regexp_split_to_table(letter_text, '(?:\r?\n[ \t]*){2,}') with ordinality as parts (paragraph, position)
      where paragraph !~ pattern order by position
    ), E'\n\n');
  end if;
  return regexp_replace(letter_text, pattern, coalesce(link, ''), 'g');
end
$$;

revoke all on function private.with_link(text, text, text) from public, anon, authenticated;

create or replace function private.with_answer_link(letter_text text, link text) returns text
  language plpgsql immutable set search_path = ''
as $$ begin return private.with_link(letter_text, 'answer_link', link); end $$;

revoke all on function private.with_answer_link(text, text) from public, anon, authenticated;

-- A text with the link and the deadline filled in.
create or replace function private.with_invitation(letter_text text, link text, deadline date) returns text
  language sql immutable set search_path = ''
  return private.with_deadline(private.with_answer_link(letter_text, link), deadline);

-- The deadline of a letter that is handed over now. Until an applicant was told, or an organiser set it, the days count from the
-- latest handover.
create or replace function private.deadline_at_handover(invitation private.invitations, default_deadline date) returns date
  language sql immutable
as $$
  select case
    when invitation.told_at is null and not invitation.is_deadline_set then greatest(invitation.deadline, default_deadline)
    else coalesce(invitation.deadline, default_deadline)
  end
$$;

revoke all on function private.deadline_at_handover(private.invitations, date) from public, anon, authenticated;

drop function if exists private.set_deadline_at_handover(uuid, text);

-- Sets the deadline of the recipient of a letter that is about to be sent. The result is their link, null if the site's address
-- is unknown, and their deadline. `has_link`: whether the letter should have the link. The
-- update reads only its own row: a subquery would read the row as it was before the lock.
create or replace function private.set_deadline_at_handover(
  application uuid, site text default null, has_link boolean default true, out link text, out deadline date
)
  language plpgsql set search_path = ''
as $$
declare
  settings private.places;
  default_deadline date;
  known_site text;
begin
  select * into settings from private.places;
  default_deadline := private.today() + settings.days;
  known_site := coalesce(nullif(settings.site, ''), nullif(set_deadline_at_handover.site, ''));
  update private.invitations as invitation set
      deadline = private.deadline_at_handover(invitation, default_deadline),
      is_without_link = case when has_link then known_site is null else is_without_link end
    where application_id = application and is_accepted
    returning known_site || '/answer/#' || token, invitation.deadline into link, deadline;
end
$$;

revoke all on function private.set_deadline_at_handover(uuid, text, boolean) from public, anon, authenticated;

-- Subject and body of a letter as it is handed over, and the link in it.
create or replace function private.fill_at_handover(
  application uuid, inout subject text, inout body text, site text default null, out link text
)
  language plpgsql set search_path = ''
as $$
declare
  invitation record;
begin
  if private.has_link(subject || body) or private.has_deadline(subject || body) then
    invitation := private.set_deadline_at_handover(application, site, private.has_link(subject || body));
    link := invitation.link;
    subject := private.with_invitation(subject, coalesce(invitation.link, ''), invitation.deadline);
    body := private.with_invitation(body, invitation.link, invitation.deadline);
  end if;
end
$$;

-- Whether a reminder was sent in the last three days, so that it is too early for another.
create or replace function private.is_reminder_recent(sent_at timestamptz) returns boolean
  -- Strict, so that it costs nothing for people who got no reminder.
  language sql stable strict
  return private.happened_within(sent_at, '3 days');

-- Whether at least half of the days between the acceptance's sending and the deadline are over, so that a reminder is not too
-- early.
create or replace function private.is_half_over(told_at timestamptz, deadline date, today date) returns boolean
  language sql stable
  return now() - told_at >= (deadline - today) * interval '1 day';

revoke all on function private.is_half_over(timestamp with time zone, date, date) from public, anon, authenticated;

-- Whether somebody still has to do what a reminder asks for: give an RSVP, once half of their days are over, or as a guest answer
-- questions. It sets no search path, so that PostgreSQL can inline it.
create or replace function private.is_to_be_reminded(invitation private.invitations, template text, today date) returns boolean
  language sql stable
as $$
  select case template
    when 'reminder' then coalesce(
      private.rsvp_state(invitation.is_accepted, invitation.told_at, invitation.deadline, invitation.rsvp, today)
        in ('no answer', 'late') and private.is_half_over(invitation.told_at, invitation.deadline, today), false)
    else invitation.is_accepted and coalesce(invitation.rsvp, '') = 'coming'
      and private.has_open_questions(invitation.application_id) end
$$;

-- The people of an edition to remind with a template (`wanted`), the earliest deadline first, at most 1,001. `reminder` is for
-- people without an RSVP, and `questions` for guests with open questions that can still be answered. `waiting` counts the people
-- with such a reminder that is not sent yet, and `reminded` those who got one in the last three days.
create or replace function private.to_remind(template text, edition integer, today date, out wanted uuid[], out waiting bigint, out reminded bigint)
  language plpgsql stable
  -- PostgreSQL has no statistics of newly drafted reminders, and would choose a slow nested loop.
  set search_path = '' set enable_nestloop = off
as $$
begin
  with unsent as materialized (
    select application_id from private.with_unsent_letter(template) as application_id
  ), asked as (
    select application_id, deadline, unsent.application_id is not null as is_waiting,
      coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
    from private.invitations join private.statuses using (application_id) left join unsent using (application_id)
    where (to_remind.template = 'reminder' or (select private.has_required_questions(to_remind.edition)))
      and private.is_to_be_reminded(invitations, to_remind.template, today)
      and statuses.edition = to_remind.edition
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

-- The accepted people who were told without their link, have no RSVP, and can be sent a reminder now; up to a thousand.
create or replace function private.told_without_link() returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return array(
    select application_id from private.invitations
    where is_without_link and is_accepted and told_at is not null and rsvp is null
      and not coalesce(private.is_reminder_recent(reminded_at), false) and not private.is_withdrawn(application_id)
      and application_id not in (select private.with_unsent_letter('reminder'))
    order by told_at, application_id limit 1000
  );
end
$$;

revoke all on function private.told_without_link() from public, anon, authenticated;

-- Sets an RSVP, null for none. The caller has locked the application. The newest RSVP counts, and the history has all. A
-- person with an RSVP gets no more reminders. Only a person who is coming gets a confirmation and a reminder of questions.
create or replace function private.set_rsvp(application uuid, act uuid, author text, rsvp text) returns void
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
  if rsvp is distinct from 'coming' then
    perform private.drop_letters(application, 'confirmed');
    perform private.drop_letters(application, 'questions');
  elsif author = 'applicant' then
    perform private.write_confirmation(application, act);
  end if;
  update private.invitations as invitation
    set rsvp = set_rsvp.rsvp, rsvp_at = case when set_rsvp.rsvp is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_event_notices(application, act);
  end if;
end
$$;

-- The application of a link's token; null if the token is unknown, or the acceptance was taken back.
create or replace function private.application_of_token(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application_id from private.invitations as invitation
  where is_accepted and invitation.token = private.stored_token(application_of_token.token)
$$;

-- Refuses more than twenty changes by an applicant in an hour, but no retry of an act. A future time does not count: the clock
-- was set back.
create or replace function private.refuse_too_many_changes(application uuid, act uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if (
    select count(*) from private.history
    where application_id = application and kind in ('answer', 'questions', 'withdrawal') and author = 'applicant'
      and private.happened_within(at, '1 hour')
  ) >= 20 and not exists (select from private.acts where acts.act = refuse_too_many_changes.act) then
    raise exception 'There were too many changes. Please try again in an hour.' using errcode = 'PT429';
  end if;
end
$$;

drop function if exists private.receipt(text, text, text);

-- A receipt's subject and body. The address may be a stranger's, so only a plain first name from the form is used. Otherwise the
-- placeholder is removed with the space before it. The other placeholders are the retreat's name, and the link to withdraw, which is
-- filled in at the handover.
create or replace function private.receipt(subject text, body text, first_name text, edition integer) returns jsonb
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

revoke all on function private.receipt(text, text, text, integer) from public, anon, authenticated;

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
create or replace function private.fill_receipt(application uuid, inout subject text, inout body text, out link text)
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

revoke all on function private.fill_receipt(uuid, text, text) from public, anon, authenticated;

-- Refuses an invalid delivery. A trigger instead of constraints: PostgreSQL would prepare constraints for each insert,
-- including an application's own delivery (docs/decisions/0058).
create or replace function private.check_delivery() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if not (case new.kind
      when 'application' then new.application_id is null
      when 'rsvp' then new.application_id is not null and new.event_id is not null
      when 'notice' then new.organiser_id is not null and (new.application_id is null and new.event_id is null) = (new.until is not null)
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

-- A draft as it would be sent. `reply_by`: the deadline if it were sent today, which stays a placeholder in the text. `seen`
-- identifies the text that the organiser read. It is a digest of the template's text, which all organisers may read. For an
-- edited letter, whose text may name somebody, it is the version.
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
  return text || jsonb_build_object('reply_by', (
    select private.deadline_at_handover(invitation, private.today() + days)
    from private.invitations as invitation cross join private.places
    where application_id = letter.application_id and is_accepted
  ), 'seen', case
    -- Includes how often it was sent, so that a repeated "sent by hand" is recognised.
    when letter.subject is null then md5(template.subject || E'\n' || template.body)
      || coalesce('-' || nullif(private.times_told(letter.id), 0), '')
    else letter.version::text
  end);
end
$$;

-- Creates the draft of a template, unless there is one, or its letter is pending or has failed. Skips a letter that the applicant
-- already got, unless `again` is set, or the letter tells a decision and they were last told another one. Skips a reminder if one
-- was sent in the last three days, and everybody who withdrew. Returns the letter's id, null if it was skipped. A dropped letter becomes a draft with its
-- former text.
create or replace function private.draft_from_template(application uuid, template text, again boolean default false) returns uuid
  language plpgsql set search_path = ''
as $$
declare
  letter private.letters;
  drafted uuid;
begin
  select * into letter from private.letters
    where application_id = application and letters.template = draft_from_template.template;
  if letter.state = 'draft' or private.is_undelivered(letter.id) or private.is_withdrawn(application)
    or template in ('reminder', 'questions') and exists (
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
    -- A letter that was sent before gets its template's text.
    update private.letters set state = 'draft', drafted_at = now(), version = version + 1,
        subject = case when state = 'dropped' then subject end, body = case when state = 'dropped' then body end
      where id = letter.id returning id into drafted;
  end if;
  return drafted;
end
$$;

-- Whether a template may still be sent to an applicant. It has to exist, and the application must not be withdrawn. A decision has to be the current one. A reminder is only
-- for people without an RSVP. A confirmation is only for people who are coming, and a reminder of questions for those of them
-- with open questions.
create or replace function private.may_be_said(application uuid, template text) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (select from private.templates where name = may_be_said.template) and not private.is_withdrawn(application)
    and (not private.is_decision(template) or exists (
      select from private.statuses where application_id = application and status = may_be_said.template
    ))
    and (template <> 'reminder' or not exists (
      select from private.invitations where application_id = application and rsvp is not null
    ))
    and (template not in ('confirmed', 'questions') or exists (
      select from private.invitations where application_id = application and is_accepted and rsvp = 'coming'
    ))
    and (template <> 'questions' or private.has_open_questions(application));
end
$$;

-- When a letter to an address last failed or came back; null if none did.
create or replace function private.last_failure(address text) returns timestamptz
  language sql stable set search_path = ''
as $$
  select max(at) from private.failures where private.person(failures.address) = private.person(last_failure.address)
$$;

revoke all on function private.last_failure(text) from public, anon, authenticated;

-- Adds a failure at an address, or the time of another one.
create or replace function private.add_failure(delivery uuid, address text) returns void
  language sql set search_path = ''
as $$
  insert into private.failures (delivery_id, address) values (add_failure.delivery, add_failure.address)
    on conflict (delivery_id, address) do update set at = excluded.at
$$;

revoke all on function private.add_failure(uuid, text) from public, anon, authenticated;

-- Remembers the address at which an email has failed, and forgets it once this email is accepted there. A letter that is overdue or
-- may have arrived says nothing about its address.
create or replace function private.note_failure(delivery private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
begin
  if delivery.state = 'failed' and delivery.may_have_arrived = 0 and not private.is_overdue(delivery) then
    perform private.add_failure(delivery.id, private.recipient(delivery));
  elsif delivery.state = 'done' then
    delete from private.failures where delivery_id = delivery.id and address = private.recipient(delivery);
  end if;
end
$$;

revoke all on function private.note_failure(private.deliveries) from public, anon, authenticated;

-- The body of a letter for a retreat. A text of the product leaves out its lines about what is not set yet. In a text that
-- organisers wrote, such a placeholder stays, so that the letter cannot be sent.
create or replace function private.for_retreat(subject text, body text, about_retreat jsonb) returns text
  language plpgsql stable set search_path = ''
as $$
declare
  blank text := (select string_agg(key, '|') from jsonb_each_text(about_retreat) where value = '');
begin
  if blank is null or not exists (
    select from private.first_templates() as first
    where first.subject = for_retreat.subject and first.body = for_retreat.body
  ) then
    return body;
  end if;
  body := regexp_replace(body, '[^\n]*\{\{(' || blank || ')\}\}[^\n]*\n', '', 'g');
  return regexp_replace(body, '\n{3,}', E'\n\n', 'g');
end
$$;

revoke all on function private.for_retreat(text, text, jsonb) from public, anon, authenticated;

-- Subject and body filled in for one application, and what `private.fill` reports about them. The RSVP link and the deadline stay
-- placeholders.
create or replace function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean, invitation_values jsonb default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  about_retreat jsonb := private.retreat_placeholders(application.edition);
  placeholder_values jsonb := private.placeholders(application, blind) || about_retreat
    || coalesce(invitation_values, private.invitation_placeholders(application.id));
  filled_subject record := private.fill(subject, placeholder_values, 1000);
  filled_body record := private.fill(private.for_retreat(subject, body, about_retreat), placeholder_values);
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

-- A text filled in for an application, by default the newest; null if there is none. Its link is only an example. `site`: the
-- desk's address, used if no server has stored the site's. `has_no_site`: the address is unknown, so the link is left out.
create or replace function private.example(
  occasion text, subject text, body text, application uuid, blind boolean, site text default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  application_row public.retreat_applications;
  is_receipt constant boolean := occasion = 'received';
  placeholder constant text := case when is_receipt then 'withdraw_link' else 'answer_link' end;
  example_link text;
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
  if is_receipt then
    letter := '{"is_long": false}'
      || private.receipt(
        subject, body, case when blind then '(hidden)' else application_row.first_name end, application_row.edition);
  else
    letter := private.filled(subject, body, application_row, blind, case when private.may_ask_for_rsvp(occasion)
      then jsonb_build_object('answer_link', '{{answer_link}}', 'reply_by', '{{reply_by}}') end);
    letter := letter || jsonb_build_object('reply_by', (select private.today() + days from private.places));
  end if;
  select coalesce(nullif(places.site, ''), nullif(example.site, '')) || case when is_receipt then '/withdraw' else '/answer' end
      || '/#example'
    into example_link from private.places;
  letter := letter || jsonb_build_object(
    'subject', private.with_link(letter ->> 'subject', placeholder, coalesce(example_link, '')),
    'body', private.with_link(letter ->> 'body', placeholder, example_link),
    'has_no_site', example_link is null and body ~ ('\{\{\s*' || placeholder || '\s*\}\}'));
  return letter || jsonb_build_object('application', application_row.id, 'name', case when not blind then
    private.full_name(application_row) end);
end
$$;

-- Whether a time is in the last minute: a heartbeat or a request counts for this long.
create or replace function private.is_recent(moment timestamptz) returns boolean
  language sql volatile parallel safe
  return private.happened_within(moment, '1 minute');

-- Whether a server runs that emails letters.
create or replace function private.is_postman_there() returns boolean
  language sql stable set search_path = ''
as $$
  select private.is_recent(seen_at) from private.postman
$$;

revoke all on function private.is_postman_there() from public, anon, authenticated;

-- The address to which an email to an applicant goes, or went: one that was sent has the address that was valid then. An automation
-- writes to the address that the applicant gave.
create or replace function private.recipient(delivery private.deliveries) returns text
  language sql stable set search_path = ''
as $$
  select case
    when delivery.kind = 'decision' then private.trimmed(application.email)
    when delivery.done_at is null then private.address_of(application.id, application.email)
    else private.trimmed(coalesce((
      select detail ->> 'address' from private.history as event
      where event.application_id = application.id and event.kind = 'address' and at <= delivery.done_at order by event.id desc limit 1
    ), application.email)) end
  from public.retreat_applications as application where application.id = delivery.application_id
$$;

revoke all on function private.recipient(private.deliveries) from public, anon, authenticated;

-- Refuses what is not a single address.
create or replace function private.check_address(address text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(char_length(address), 0) > 254
    or coalesce(address, '') !~ '^[^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+$'
  then
    raise exception 'This is not a single email address.' using errcode = '22023';
  end if;
end
$$;

revoke all on function private.check_address(text) from public, anon, authenticated;

-- Whether an email may be sent now.
-- Its body is a text: PostgreSQL refuses a new column of a table whose row type a parsed body uses.
create or replace function private.may_leave(postman private.postman, pace interval) returns boolean
  language sql stable
as $$
  select not postman.stopped
    and not private.is_ahead(postman.paused_until, private.mail_back_off(postman.failures))
    and (pace is null or not private.is_ahead(postman.next_at, pace))
$$;

-- Whether this hour's limit allows another receipt or notice: a hundred, over all servers.
-- Its body is a text: PostgreSQL refuses a new column of a table whose row type a parsed body uses.
create or replace function private.is_below_hourly_limit(postman private.postman) returns boolean
  language sql stable
as $$
  select postman.in_hour < 100 or not private.happened_within(postman.hour_began_at, '1 hour')
$$;

revoke all on function private.is_below_hourly_limit(private.postman) from public, anon, authenticated;

-- Delays all emails by a time that grows with each failure in a row. A concurrent failure changes nothing. Returns whether this
-- call delayed them.
create or replace function private.back_off_mails(problem text) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  update private.postman as row
    set failures = failures + 1, problem = back_off_mails.problem, failing_since = coalesce(failing_since, now()),
      paused_until = now() + private.mail_back_off(failures + 1), refused_at = clock_timestamp()
    where not private.is_ahead(paused_until, private.mail_back_off(failures));
  return found;
end
$$;

-- The emails that are suspected: what was refused more than an hour ago says nothing about the mail server of now.
create or replace function private.suspects() returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select case when private.happened_within(refused_at, '1 hour') then suspects else '{}' end
    from private.postman
  );
end
$$;

-- Records a refusal that is, or may be, about all emails. It is first recorded as the email's own, and the email becomes a
-- suspect. If the next email, to another recipient, is refused too, or if `is_ours`, all emails are delayed, and none of these
-- tries counts. If the next email is accepted, the record stays. It also stays if `is_cause` and no pause is under way: the email
-- itself began pauses too often. Returns the new state as `record_delivery` does, and `paused` or `waits` if the try does not
-- count: `paused` if this refusal delayed all emails.
create or replace function private.record_refusal(
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
    -- Skips a suspect that somebody is acting on. An email that may have arrived too often stays given up. A refusal of all emails
    -- says nothing about an address.
    with reset as (
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
      ) returning row.id
    )
    delete from private.failures using private.deliveries as own
      where own.id = delivery_id and own.id in (select id from reset) and address = private.recipient(own);
    recorded := case when is_pausing then 'paused' else 'waits' end;
  end if;
  -- A pause has set the time. A suspect whose try began before the first refusal does not, since the probe may be under way.
  update private.postman set suspects = array_append(array_remove(former, delivery), delivery),
    refused_at = case when former = '{}' and is_pausing is null then clock_timestamp() else refused_at end;
  return recorded;
end
$$;

drop function if exists private.due_mail(text[], boolean);

-- Finds and locks the next email to send. Tests come first, since an organiser waits for them. Letters and notices follow.
-- Receipts come last: there may be as many as applications. Locked rows are skipped. The query joins no other table: for a
-- join, PostgreSQL would read all due emails to find the first. If the mail server refused emails for a reason that may be about
-- all, the next is to somebody else if possible, at least to somebody else than the last.
create or replace function private.due_mail(kinds text[], is_below_limit boolean, out kind text, out id uuid)
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
      continue when not kind = any (kinds) or kind in ('notice', 'receipt') and not is_below_limit;
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

revoke all on function private.due_mail(text[], boolean) from public, anon, authenticated;

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
  due := private.due_mail(kinds, private.is_below_hourly_limit(postman));
  if due.id is null then return null; end if;
  select * into postman from private.postman for update;
  if not private.may_leave(postman, pace) or private.awaits_probe() then return null; end if;
  loop
    due := private.due_mail(kinds, private.is_below_hourly_limit(postman));
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
          not private.happened_within(row.hour_began_at, '1 hour') as is_new
      ) as hour
    );
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

-- Claims a letter or a receipt that is due, and fills in its link and the deadline. For a confirmation, the result also has
-- the days and the venue of the retreat.
create or replace function private.claim_letter(delivery uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  was_sending boolean := (select state = 'sending' from private.deliveries where id = delivery);
  claimed private.deliveries := private.claim_one(delivery, lease);
  is_confirmation boolean := private.is_confirmation(claimed.letter_id);
  sent record;
begin
  if claimed.kind = 'receipt' then
    sent := private.fill_receipt(claimed.application_id, claimed.subject, claimed.body);
  else
    sent := private.fill_at_handover(claimed.application_id, claimed.subject, claimed.body);
  end if;
  return (
    select jsonb_build_object(
      'id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.may_have_arrived, 'closings', claimed.closings,
      'age', extract(epoch from now() - claimed.queued_at) * 1000,
      'to', private.address_of(application.id, application.email), 'subject', sent.subject, 'body', sent.body,
      'link', sent.link, 'replyTo', reply_to,
      'is_overdue', private.is_overdue(claimed), 'was_sending', was_sending,
      'is_confirmation', is_confirmation, 'is_added', application.added_by is not null,
      -- Applicants get no organiser's email.
      'added_by', (
        select name from private.organisers join auth.users on users.id = account_id
        where private.unicode_email(users.email) = application.added_by
      ),
      'retreat', case when is_confirmation then private.retreat(application.edition) end
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;

-- Ends recalled deliveries whose server was lost, and cancels receipts that were not sent within a day.
create or replace function private.end_lost_deliveries() returns void
  language plpgsql set search_path = ''
as $$
declare
  lost uuid[] := array(
    select id from private.deliveries
    where kind in ('letter', 'decision', 'receipt') and state = 'sending' and recalled_at is not null
      and exists (select from private.due_moments() as due where due_at >= due.since and due_at <= due.until)
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

-- Notifies the organisers who want an email for each application, RSVP or withdrawal. Beyond ten an hour, the daily email covers
-- them.
create or replace function private.write_notices(application uuid, event bigint default null) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.deliveries (kind, organiser_id, application_id, event_id)
      select 'notice', account_id, write_notices.application, event from private.organisers as organiser
      where notices = 'each' and (
        select count(*) from private.deliveries as notice
        where organiser_id = account_id and kind = 'notice' and application_id is not null
          and private.happened_within(queued_at, '1 hour')
      ) < 10;
  end;

-- Writes the notices of what an applicant did by this act: an RSVP or a withdrawal. If that fails, it is still stored.
create or replace function private.write_event_notices(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.write_notices(application, id) from private.history
    where application_id = application and history.act = write_event_notices.act;
exception when others then
  raise log 'What an applicant did was stored without notices (SQLSTATE %).', sqlstate;
end
$$;

revoke all on function private.write_event_notices(uuid, uuid) from public, anon, authenticated;

-- How many applications were withdrawn in a period and still are, without those with a notice of their own to this organiser.
create or replace function private.count_withdrawn(organiser uuid, since timestamptz, until timestamptz) returns bigint
  language sql stable set search_path = ''
as $$
  select count(distinct event.application_id)
  from private.history as event join private.statuses using (application_id)
  where kind = 'withdrawal' and at > since and at <= until and withdrawn_at is not null
    and not private.had_notice(organiser, event.application_id, event.id)
$$;

revoke all on function private.count_withdrawn(uuid, timestamp with time zone, timestamp with time zone) from public, anon, authenticated;

-- Writes the daily emails that are due, except those with nothing to report. They report the applications, RSVPs and withdrawals
-- since the last daily email, except those with a notice of their own and people whom organisers added. They also report the applications that will be erased, but
-- not to readers, who cannot keep one.
create or replace function private.write_day_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  with due as (
    -- Applications that are being stored at this moment are reported in the next daily email.
    select account_id, told_until, now() - interval '1 minute' as until, is_reader from private.organisers
    where notices <> 'off' and day_due_at <= now() for no key update skip locked
  ), updated as (
    update private.organisers as organiser set told_until = due.until,
      day_due_at = day_due_at + ceil(extract(epoch from now() - day_due_at) / 86400 + 0.00001) * interval '1 day'
    from due where organiser.account_id = due.account_id
  )
  insert into private.deliveries (kind, organiser_id, since, until)
    select 'notice', account_id, told_until, until from due
    where not is_reader and private.announced_applications() is not null or exists (
      select from public.retreat_applications as application
      where created_at > told_until and created_at <= until and added_by is null
        and not private.had_notice(account_id, application.id, null)
    ) or exists (
      select from private.history as rsvp
      where kind = 'answer' and author = 'applicant' and at > told_until and at <= until
        and not private.had_notice(account_id, rsvp.application_id, rsvp.id)
    ) or private.count_withdrawn(account_id, told_until, until) > 0;
end
$$;

-- Deletes notices and tests after a day, sent or not, and writes the daily emails that are due. A notice about one application or
-- event, sent or failed, stays until the daily email has left out that application or event.
create or replace function private.tidy_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  -- A time too far ahead was stored before the clock was set back.
  update private.organisers
    set told_until = least(told_until, now() - interval '1 minute'),
      day_due_at = day_due_at
        - greatest(0, ceil(extract(epoch from day_due_at - now()) / 86400) - 1) * interval '1 day'
    where told_until > now() or day_due_at > now() + interval '1 day';
  -- Skips those that are being erased or sent: the next call deletes them.
  delete from private.deliveries where id = any (array(
    select id from private.deliveries join private.organisers on account_id = organiser_id
    where kind in ('notice', 'test') and queued_at <= now() - interval '1 day'
      and (kind = 'test' or application_id is null or due_at is not null or queued_at < told_until - interval '1 hour')
    for update of deliveries skip locked
  ));
  perform private.write_day_notices();
end
$$;

revoke all on function private.tidy_notices() from public, anon, authenticated;

-- Claims a notice or a test that is due. Returns null and deletes it if it reports nothing, or if the daily email reports
-- the same.
create or replace function private.claim_notice(notice uuid, lease interval) returns jsonb
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
        and private.happened_within(tried_at, '1 hour')
        and queued_at > now() - interval '1 day'
    ) >= 10
    or claimed.queued_at <= organiser.told_until and organiser.told_until <= clock_timestamp()
  ) then
    delete from private.deliveries where id = notice;
    return null;
  end if;
  claimed := private.claim_one(notice, lease);
  if claimed.kind = 'notice' then
    report := private.notice_content(claimed, organiser.blind)
      || case when organiser.is_reader then '{"erasing": null}' else '{}' end::jsonb;
    if claimed.application_id is null and claimed.event_id is null
      and report @> '{"count": 0, "coming": 0, "notComing": 0, "withdrawn": 0, "erasing": null}' then
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

-- The content of a notice: one application, RSVP, withdrawal or change of an organiser, or the counts of a day, with up to fifty
-- plain names of applicants. Applications are counted up to a thousand. Organisers who read blind get no names.
create or replace function private.notice_content(notice private.deliveries, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'application', notice.application_id,
      'answer', (select detail ->> 'answer' from private.history where id = notice.event_id),
      'organiser', (
        select detail || jsonb_build_object('author', private.author_shown(author, author_id))
        from private.history where id = notice.event_id and kind = 'organiser'
      ),
      'isWithdrawn', (select (detail ->> 'is_withdrawn')::boolean from private.history where id = notice.event_id),
      'since', notice.since, 'count', count(*),
      'names', case when blind then '[]' else coalesce(to_jsonb((array_agg(name order by position) filter (where name is not null))[:50]), '[]') end
    )
    from (
      select coalesce(private.plain_name(first_name || ' ' || last_name), private.plain_name(first_name)) as name,
        row_number() over (order by created_at, id) as position
      from public.retreat_applications as application
      where application.id = notice.application_id
        or created_at > notice.since and created_at <= notice.until and added_by is null
          and not private.had_notice(notice.organiser_id, application.id, null)
      order by created_at, id limit 1000
    ) as application
  ) || (
    select jsonb_build_object(
      'coming', count(*) filter (where detail ->> 'answer' = 'coming'),
      'notComing', count(*) filter (where detail ->> 'answer' = 'not coming'),
      'withdrawn', private.count_withdrawn(notice.organiser_id, notice.since, notice.until),
      'erasing', private.announced_applications())
    from private.history as rsvp
    where kind = 'answer' and author = 'applicant' and at > notice.since and at <= notice.until
      and not private.had_notice(notice.organiser_id, rsvp.application_id, rsvp.id)
  );
end
$$;

create or replace function private.write_receipts_and_notices() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  receipts boolean := (select settings.receipts from private.letter_settings as settings);
  application public.retreat_applications;
begin
  if not receipts and not exists (select from private.organisers where notices = 'each') then return null; end if;
  for application in
    select stored.* from arrived join public.retreat_applications as stored using (id) where stored.added_by is null
  loop
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

-- Drafts as an organiser may see them, in the order of `ids`. In the result, `edition` is no retreat: it is 1 when a letter is
-- sent for the first time, 2 for the second, and so on. `answer` is the receiver's reply. `failed_at`: when a letter to this address
-- last failed. Deliveries below have the other keys.
create or replace function private.drafts_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.draft_text(letter, blind) || private.addressee(application, blind) || jsonb_build_object(
      'id', letter.id, 'occasion', coalesce(template, ''), 'edition', 1 + private.times_told(letter.id), 'way', 'mail',
      'state', 'draft', 'is_edited', letter.subject is not null, 'author', null, 'act', null, 'released_at', null,
      'due_at', null, 'attempts', 0, 'uncertain', 0, 'sent_at', null, 'withdrawn_at', null, 'withdrawn_by', null,
      'answer', '', 'otherwise', null,
      'failed_at', case when not blind then private.last_failure(private.address_of(application.id, application.email)) end
    ) order by position), '[]')
  from unnest(ids) with ordinality as shown (id, position)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

-- Deliveries as an organiser may see them, in the order of `ids`. Blind readers do not see the text: it names the applicant.
create or replace function private.letter_deliveries_shown(ids uuid[], blind boolean) returns jsonb
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
      ), 'way', way, 'state', state, 'author', private.author_shown(author), 'act', act, 'released_at', queued_at, 'due_at', due_at,
      'attempts', attempts, 'uncertain', may_have_arrived, 'sent_at', done_at, 'withdrawn_at', recalled_at,
      'withdrawn_by', private.author_shown(recalled_by), 'answer', case when not blind then reply else '' end, 'otherwise', otherwise
    ) order by position), '[]')
  from unnest(ids) with ordinality as shown (id, position)
    join private.letter_deliveries as delivery using (id)
    join public.retreat_applications as application on application.id = delivery.application_id
$$;

-- The letters of some applications that were released, the oldest first.
create or replace function private.sent_letters_of(applications uuid[], blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return private.letter_deliveries_shown(array(
    select id from private.deliveries
    where application_id = any (applications) and kind in ('letter', 'decision', 'receipt')
    order by queued_at, is_beside, id
  ), blind);
end
$$;

revoke all on function private.sent_letters_of(uuid[], boolean) from public, anon, authenticated;

-- The letters of some applications, the oldest first, and then their drafts.
create or replace function private.letters_of(applications uuid[], blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return private.sent_letters_of(applications, blind) || private.drafts_shown(array(
    select id from private.letters where application_id = any (applications) and state = 'draft' order by drafted_at, id
  ), blind);
end
$$;

-- The states of the letters of some applications, without their texts, the oldest first, and then the drafts of decisions.
create or replace function private.letter_states(applications uuid[]) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state, 'otherwise', otherwise, 'sent_at', done_at)
      order by state = 'draft', queued_at, way = 'automation', id), '[]')
    from (
      select application_id, occasion, way, state, otherwise, done_at, queued_at, id
      from private.letter_deliveries where application_id = any (applications) and state <> 'withdrawn'
      union all
      select application_id, template, 'mail', 'draft', null, null, drafted_at, id
      from private.letters where application_id = any (applications) and state = 'draft' and private.is_decision(template)
    ) as letters
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
          'confirmations', confirmations, 'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', private.is_recent(seen_at), 'is_automation_there', private.is_recent(automation_seen_at),
        'is_webhook_there', private.is_recent(webhook_seen_at),
        'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and private.is_recent(check_wanted_at),
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'has_no_site', exists (select from private.places where site = ''),
      'without_link', to_jsonb(private.told_without_link()),
      'templates', (
        select jsonb_agg(private.template_shown(template) || jsonb_build_object('drafts', (
          select private.up_to_thousand(count(*))
          from (select from private.letters where state = 'draft' and coalesce(letters.template, '') = name limit 1001) as counted
        )) order by array_position('{received,accepted,waitlisted,declined,reminder,confirmed,questions}', name), name)
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

-- Makes these failed deliveries due again, as if they had never been tried. `may_have_arrived` stays: copies that may have
-- arrived still count. Skips a decision or an RSVP if a later one of the same applicant is pending. Returns how many are due
-- again.
create or replace function private.retry_failed(wanted uuid[]) returns integer
  language sql set search_path = ''
as $$
  select private.lock_deliveries(wanted);
  with retried as (
    update private.deliveries as delivery set state = 'waiting', due_at = now(), attempts = 0, tried_at = null,
        reply_status = null, reply = '', is_refused = false, closings = 0, by = 'server'
      where id = any (wanted) and state = 'failed' and not (kind in ('decision', 'rsvp') and exists (
        select from private.deliveries as later
        where later.application_id = delivery.application_id and later.kind = delivery.kind
          and private.is_before(delivery, later) and later.state in ('waiting', 'sending')
      )) returning true
  )
  select count(*)::integer from retried
$$;

-- Makes all failed deliveries of a kind due again. Returns how many.
create or replace function private.retry_deliveries(kind text) returns integer
  language sql set search_path = ''
as $$
  select private.retry_failed(array(
    select id from private.deliveries where deliveries.kind = retry_deliveries.kind and state = 'failed'
  ))
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
  superseded uuid[];
begin
  loop
    select * into claimed from private.deliveries where id = delivery and attempts = attempt and deliveries.state = 'sending';
    if not found then return null; end if;
    is_recalled := claimed.recalled_at is not null;
    -- Locked before the delivery's row, as in the order of locks: `follow_told` adds a delivery that refers to the application.
    if is_recalled then
      perform private.lock_letters(array[delivery]);
    elsif claimed.letter_id is not null then
      perform from public.retreat_applications where id = claimed.application_id for key share;
    end if;
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
    superseded := array(
      select id from private.deliveries as earlier
      where earlier.application_id = recorded.application_id and earlier.kind = recorded.kind
        and private.is_before(earlier, recorded) and earlier.state not in ('done', 'cancelled')
    );
    perform private.lock_deliveries(superseded);
    update private.deliveries set state = 'cancelled', due_at = null
      where id = any (superseded) and deliveries.state not in ('done', 'cancelled');
  end if;
  if recorded.kind in ('letter', 'receipt') then
    perform private.note_failure(recorded);
  end if;
  if is_recalled and recorded.letter_id is not null then
    perform private.settle_recalled(recorded);
  end if;
  return recorded.state;
end
$$;

-- Whether a delivery may come back: it was sent, by our server, an automation or an organiser. Of a letter that was sent several
-- times, only the last can come back, and none while there is another draft of it.
create or replace function private.can_come_back(delivery private.deliveries) returns boolean
  language sql stable set search_path = ''
as $$
  select delivery.state = 'done' and delivery.by <> 'elsewhere' and (delivery.kind = 'receipt' or private.is_main(delivery))
    and not exists (select from private.letters where id = delivery.letter_id and state = 'draft')
    and not exists (
      select from private.deliveries as later
      where later.letter_id = delivery.letter_id and private.is_main(later) and later.state <> 'cancelled'
        and (later.queued_at, later.id) > (delivery.queued_at, delivery.id)
    )
$$;

revoke all on function private.can_come_back(private.deliveries) from public, anon, authenticated;

-- Whether a letter that asks an applicant for an RSVP arrived, or may have arrived, and none about another decision since.
create or replace function private.was_asked(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select coalesce((
    select coalesce(template, '') not in ('waitlisted', 'declined')
    from private.deliveries as delivery join private.letters on letters.id = letter_id
    where delivery.application_id = application and private.has_told(delivery)
      and (private.is_decision(coalesce(template, '')) or private.has_link(delivery.body))
    order by queued_at desc limit 1
  ), false)
$$;

revoke all on function private.was_asked(uuid) from public, anon, authenticated;

-- Makes a sent delivery a failed one, and the applicant one who was not told by it. A letter that must no longer be sent is dropped.
-- A reminder of an acceptance that did not arrive is dropped, too. The caller has locked the letter.
create or replace function private.return_letter(sent private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
declare
  template text := (select letters.template from private.letters where id = sent.letter_id);
  is_asked boolean;
begin
  -- All at once, in the order of locks.
  perform private.lock_deliveries(array(
    select id from private.deliveries where application_id = sent.application_id and (letter_id is not null or id = sent.id)
  ));
  update private.letters set state = 'released' where id = sent.letter_id and state = 'dropped';
  update private.deliveries as delivery set state = 'failed', done_at = null, is_refused = true, reply_status = null,
      reply = 'It came back.', may_have_arrived = 0, recalled_at = null, recalled_by = null, subject = unsent.subject,
      body = unsent.body
    from private.as_unsent(sent) as unsent where delivery.id = sent.id;
  perform private.add_failure(sent.id, private.recipient(sent));
  if exists (select from private.templates where name = template)
    and not private.may_be_said(sent.application_id, template)
  then
    perform private.drop_letters(sent.application_id, template);
  end if;
  is_asked := private.was_asked(sent.application_id);
  if not is_asked and template is distinct from 'reminder' then
    perform private.drop_letters(sent.application_id, 'reminder');
  end if;
  update private.invitations set
      -- An applicant who gave an RSVP was asked, whatever came back.
      told_at = case when is_asked or rsvp is not null then told_at end,
      reminded_at = case when template in ('reminder', 'questions') then (
        select max(done_at) from private.deliveries as delivery join private.letters on letters.id = letter_id
        where delivery.application_id = sent.application_id and letters.template in ('reminder', 'questions')
      ) else reminded_at end
    where application_id = sent.application_id and sent.kind <> 'receipt';
end
$$;

revoke all on function private.return_letter(private.deliveries) from public, anon, authenticated;

-- Whether a delivery failed and can be tried again: no receipt older than a day, no letter whose deadline has passed, and none to
-- an applicant who withdrew.
create or replace function private.can_retry(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return delivery.state = 'failed' and delivery.kind in ('letter', 'decision', 'receipt')
    and (delivery.kind <> 'receipt' or delivery.queued_at > now() - interval '1 day') and not private.is_overdue(delivery)
    and not private.is_withdrawn(delivery.application_id);
end
$$;

-- The templates of the product, with the texts that a new database has.
create or replace function private.first_templates() returns table (name text, kind text, subject text, body text)
  language sql immutable set search_path = ''
as $$
  values
  ('accepted', 'decision', 'Your place at {{retreat}}', 'Hello {{first_name}},

We would love to have you with us: your application to {{retreat}} is accepted.

When: {{days}}
Where: {{venue}}

We keep your place until {{reply_by}}. Please tell us by then whether you are coming.

You can say so here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('reminder', 'reminder', 'Are you coming to {{retreat}}?', 'Hello {{first_name}},

We have not heard from you yet: are you coming to {{retreat}}? We keep your place until {{reply_by}}.

When: {{days}}
Where: {{venue}}

You can say so here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('confirmed', 'confirmation', 'See you at {{retreat}}', 'Hello {{first_name}},

Thank you for telling us that you are coming to {{retreat}}. Your place is confirmed, and we look forward to meeting you.

When: {{days}}
Where: {{venue}}

If your plans change, please tell us here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('questions', 'reminder', 'A few questions before {{retreat}}', 'Hello {{first_name}},

We look forward to meeting you at {{retreat}}. So that we can prepare it, please answer a few questions.

You can do so here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('waitlisted', 'decision', 'You are on the waitlist of {{retreat}}', 'Hello {{first_name}},

Thank you for your application to {{retreat}}. All places are taken for now, and you are on our waitlist.

If one becomes free, we will write to you at once.

The organisers of {{retreat}}'),
  ('declined', 'decision', 'Your application to {{retreat}}', 'Hello {{first_name}},

Thank you for your application to {{retreat}}. We are sorry that we cannot offer you a place this time.

We wish you and {{company}} all the best.

The organisers of {{retreat}}'),
  ('received', 'receipt', 'We have your application', 'Hello {{first_name}},

Thank you for your application to {{retreat}}. We have it, and we will get back to you soon.

If you change your mind, you can withdraw it here: {{withdraw_link}}

The organisers of {{retreat}}')
$$;

-- Refuses an invalid template. `occasion` is its name.
create or replace function private.check_template(occasion text, subject text, body text) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  placeholder_values jsonb := private.placeholders(null::public.retreat_applications, false)
    || '{"retreat": "", "days": "", "venue": ""}';
  unknown text;
begin
  perform private.check_text(subject, body);
  if occasion = 'received' then placeholder_values := '{"first_name": "", "retreat": "", "withdraw_link": ""}'; end if;
  if private.may_ask_for_rsvp(occasion) then
    placeholder_values := placeholder_values || '{"answer_link": "", "reply_by": ""}';
  end if;
  select min(name) into unknown
    from unnest(
      (private.fill(subject, placeholder_values)).unknown || (private.fill(body, placeholder_values)).unknown) as name;
  if unknown = '{{' then
    raise exception 'A placeholder has two braces before and two after its name, as in {{first_name}}.' using errcode = '22023';
  elsif unknown is not null then
    raise exception 'There is no placeholder %.', '{{' || unknown || '}}' || case
      when occasion = 'received' then ' in a receipt'
      when unknown in ('answer_link', 'reply_by') then ' in a letter to somebody who is not accepted'
      else '' end
      using errcode = '22023';
  end if;
end
$$;

-- A template as organisers see it. `original`: the product's text, if the template has another one.
create or replace function private.template_shown(template private.templates) returns jsonb
  language sql immutable set search_path = ''
as $$
  select jsonb_build_object('occasion', template.name, 'version', template.version, 'subject', template.subject,
    'body', template.body, 'original', (
      select jsonb_build_object('subject', first.subject, 'body', first.body) from private.first_templates() as first
      where first.name = template.name and (first.subject, first.body) <> (template.subject, template.body)
    ))
$$;

-- The deliveries about an application, the oldest first, each with its recipient: an email address, or `webhook`. A daily notice
-- is among them if it may have named the applicant.
create or replace function private.deliveries_about(application public.retreat_applications) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  daily constant uuid[] := array(
    select id from private.deliveries
    -- The first condition is for the index, which begins with the organiser.
    where organiser_id in (select account_id from private.organisers) and kind = 'notice' and until is not null and (
      application.created_at > since and application.created_at <= until or exists (
        select from private.history as event
        where event.application_id = application.id and event.kind in ('answer', 'withdrawal') and at > since and at <= until
      )
    )
  );
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', delivery.id, 'kind', kind, 'letter', letter_id,
      'event', (select event.act from private.history as event where event.id = event_id),
      'recipient', case
        when organiser_id is not null then (select email from auth.users where users.id = organiser_id)
        when kind in ('application', 'rsvp', 'decision') then 'webhook'
        else private.recipient(delivery)
      end,
      'subject', subject, 'body', body, 'since', since, 'until', until, 'state', state, 'by', "by", 'act', act, 'author', author,
      'queued_at', queued_at, 'due_at', due_at, 'tried_at', tried_at, 'done_at', done_at, 'attempts', attempts,
      'reply_status', reply_status, 'reply', reply, 'is_refused', is_refused, 'may_have_arrived', may_have_arrived,
      'closings', closings, 'recalled_at', recalled_at, 'recalled_by', recalled_by, 'is_beside', is_beside,
      'mailbox', mailbox, 'domain', domain, 'failures', (
        select coalesce(jsonb_agg(jsonb_build_object('address', address, 'at', at) order by at, address), '[]')
        from private.failures where delivery_id = delivery.id
      )
    ) order by queued_at, delivery.id), '[]')
    from private.deliveries as delivery
    where delivery.application_id = application.id or delivery.id = application.id or delivery.id = any (daily)
  );
end
$$;

-- An application with what every table has about it. `reader`: the organiser who reads it, who gets the marks that they may see;
-- null for an operator, who gets all.
create or replace function private.all_about_application(application uuid, reader uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  stored public.retreat_applications;
begin
  select * into stored from public.retreat_applications where id = application;
  return jsonb_build_object(
    'id', stored.id, 'created_at', stored.created_at,
    'edition', (
      select jsonb_build_object('number', id, 'name', name, 'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
      from private.editions where id = stored.edition
    ),
    'answers', jsonb_build_object(
      'first_name', stored.first_name, 'last_name', stored.last_name, 'email', stored.email, 'phone', stored.phone,
      'linkedin', stored.linkedin, 'company', stored.company, 'paid_solution', stored.paid_solution,
      'custom_solution', stored.custom_solution, 'team_size', stored.team_size, 'reason', stored.reason),
    -- The form's sentence of consent. People consent by sending the form, so the time is the application's. Somebody whom an
    -- organiser added was not asked.
    'consent', jsonb_build_object(
      'given', stored.consent, 'added_by', private.adder(stored), 'at', stored.created_at,
      'sentence', case when stored.added_by is null then 'I consent to receiving communications from this team' end),
    'address', (select address from private.addresses where application_id = application),
    'status', coalesce((
      select jsonb_build_object('status', status, 'version', version, 'set_at', set_at, 'withdrawn_at', withdrawn_at)
      from private.statuses where application_id = application
    ), '{"status": "new", "version": 0, "set_at": null, "withdrawn_at": null}'),
    'has_withdrawal_link', exists (select from private.withdrawal_links where application_id = application),
    -- The hold, which exempts the application from the retention.
    'hold', (
      select jsonb_build_object('reason', reason, 'held_by', held_by, 'held_at', held_at)
      from private.holds where application_id = application
    ),
    'marks', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'author', author, 'mark', mark, 'why', why, 'at', at, 'is_after_seeing', is_after_seeing, 'has_seen', has_seen,
        'was_shown', was_shown) order by at, account_id), '[]')
      from private.marks
      where application_id = application and (reader is null or account_id in (
        select account_id from private.visible_marks(reader) as visible where visible.application_id = application
      ))
    ),
    'are_marks_hidden', reader is not null and not exists (
      select from private.marks where application_id = application and account_id = reader and mark is not null
    ) and not exists (
      select from private.statuses where application_id = application and private.is_decision(status)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind, 'detail', detail) order by id), '[]')
      from private.history where application_id = application
    ),
    'invitation', (
      select jsonb_build_object(
        'has_link', token is not null, 'is_accepted', is_accepted, 'told_at', told_at, 'reminded_at', reminded_at,
        'deadline', deadline, 'is_deadline_set', is_deadline_set, 'rsvp', rsvp, 'rsvp_at', rsvp_at,
        'is_without_link', is_without_link)
      from private.invitations where application_id = application
    ),
    'questions', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', question_id, 'question', text, 'is_private', is_private, 'answer', answer, 'answered_at', answered_at
      ) order by position), '[]')
      from private.question_answers join private.questions on questions.id = question_id where application_id = application
    ),
    'letters', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'template', template, 'state', state, 'subject', subject, 'body', body, 'version', version,
        'drafted_at', drafted_at) order by drafted_at, id), '[]')
      from private.letters where application_id = application
    ),
    'deliveries', private.deliveries_about(stored),
    'acts', private.acts_about(application)
  );
end
$$;

-- The account with an email; null if there is none. `reader`: the organiser who reads it. Of another's account they get `email`,
-- `name` and `organiser_since`, and the rest is null: it would tell what a colleague has marked. Null for an operator, who gets
-- all, and what is stored under the email of a removed account, which reads whole tables. `organiser_since` is null unless it is
-- an organiser's.
create or replace function private.account_of(email text, reader uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object('email', asked.email, 'name', name, 'organiser_since', organiser.created_at) || case
      when reader <> users.id then
        '{"created_at": null, "last_sign_in_at": null, "blind": null, "reads_only": null, "is_reader": null, "notices": null, "history": null, "marks": null}'
      else jsonb_build_object(
        'created_at', users.created_at, 'last_sign_in_at', last_sign_in_at,
        'blind', blind, 'reads_only', reads_only, 'is_reader', is_reader, 'notices', notices,
        'history', (
          select count(*) from private.history
          where author_id = users.id or users.id is null and author = asked.email
            or kind = 'organiser' and detail ->> 'organiser' = asked.email
        ),
        'marks', (
          select count(*) from private.marks where marks.account_id = users.id or users.id is null and author = asked.email
        ))
      end
    from (select private.unicode_email(lower(private.trimmed(account_of.email))) as email) as asked
      left join auth.users on users.email = private.ascii_email(asked.email)
      left join private.organisers as organiser on organiser.account_id = users.id
    where users.id is not null or reader is null and (
      exists (
        select from private.history where author = asked.email or kind = 'organiser' and detail ->> 'organiser' = asked.email
      )
      or exists (select from private.marks where author = asked.email)
      or exists (select from private.holds where held_by = asked.email)
      or exists (select from private.deliveries where author = asked.email)
    )
    -- In a hosted project, several accounts may have one email.
    order by organiser.created_at, users.id limit 1
  );
end
$$;

-- Up to `most` applications of an edition that are due on or before a day, the oldest first.
create or replace function private.due_applications(edition integer, day date, most integer) returns setof uuid
  language sql stable set search_path = ''
as $$
  select application.id
  from private.editions as shown cross join private.retention cross join private.places
    join public.retreat_applications as application
      on application.edition = shown.id
    left join private.invitations on application_id = application.id and is_accepted and rsvp = 'coming'
  where shown.id = due_applications.edition and shown.ends_on < day
    -- For the index. The five days allow for months of different lengths.
    and created_at < day + interval '5 days' - make_interval(months => least(months, months_for_guests))
    and private.months_after(ends_on, (created_at at time zone coalesce(zone, 'UTC'))::date,
      case when application_id is null then months else months_for_guests end) <= day
    and not exists (select from private.holds where holds.application_id = application.id)
  order by created_at, id limit most
$$;

-- Announces applications that will be erased within six days, and erases up to `most` of those that were announced on seven days.
-- Servers call this regularly, and again at once as long as it erases some: each call is short, and no insert waits for it. The
-- result is {erased, announced}. `announced`: the result of `private.announced_applications` once a day, otherwise null.
create or replace function private.announce_and_erase_applications(most integer) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  today constant date := private.today();
  shown integer;
  announcement record;
  gone integer := 0;
  is_new boolean := false;
begin
  -- Before their announcements, as in the order of locks.
  perform from private.editions order by id for key share;
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

revoke all on function private.announce_and_erase_applications(integer) from public, anon, authenticated;

-- Refuses an application while the door is closed, with the organisers' sentence, and counts it while a limit is set. It runs
-- after the insert, so that the index refuses a repeat first: a repeat is a success even when the door is closed. A person whom an
-- organiser adds is counted, and never refused.
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
  if private.is_ahead(door.repeats_until, '1 hour') then
    perform from public.retreat_applications as former
      where private.answers_digest(former) = private.answers_digest(new) and edition = any (array(
        select id - 1 from private.editions where began_at > clock_timestamp() - interval '1 hour'
      )) and not private.is_withdrawn(former.id);
    if found then
      -- Clients know a repeat by this code and this name.
      raise exception 'duplicate key value violates unique constraint "retreat_applications_once"'
        using errcode = '23505', constraint = 'retreat_applications_once', table = 'retreat_applications', schema = 'public';
    end if;
  end if;
  if not door.closed and door.closes_after is not null then
    -- Concurrent applicants wait for each other only while a limit is set.
    select * into door from private.door for update;
    if not door.closed and door.received < door.closes_after then
      update private.door set received = received + 1;
      door.closes_after := null;
    end if;
  end if;
  if new.added_by is null and (door.closed or now() >= door.closes_at or door.closes_after is not null) then
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
  -- A door that closed automatically keeps its values, and so stays closed.
  if (former.closed, former.sentence, former.closes_at, former.closes_after)
    is not distinct from (set_door.closed, coalesce(set_door.sentence, ''), set_door.closes_at, set_door.closes_after)
  then
    return state;
  elsif (state ->> 'version')::integer <> seen then
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

-- The texts of the page, and the most characters of each. The limits are those of the settings, too (settings/look-settings.ts).
create or replace function private.page_limits() returns jsonb
  language sql immutable
  return '{"title": 60, "tagline": 120, "badge": 60, "success": 400, "privacy_url": 2000, "privacy_label": 60, "accent": 7,
    "cost": 120, "hear_back": 120, "about": 2000}'::jsonb;

revoke all on function private.page_limits() from public, anon, authenticated;

-- Refuses texts that the page cannot show. `texts` has them by name.
create or replace function private.check_page(texts jsonb) returns void
  language plpgsql immutable set search_path = ''
as $$
declare
  words constant jsonb := '{"success": "thank-you text", "privacy_url": "privacy address", "privacy_label": "name of the privacy link",
    "accent": "colour", "hear_back": "time when applicants hear back", "about": "text about the retreat"}'::jsonb;
  limit_of record;
  each_text text;
  called text;
begin
  for limit_of in select key as name, value::integer as most from jsonb_each(private.page_limits()) loop
    each_text := coalesce(texts ->> limit_of.name, '');
    called := coalesce(words ->> limit_of.name, limit_of.name);
    if char_length(each_text) > limit_of.most then
      raise exception 'The % has at most % characters.', called, limit_of.most using errcode = '22023';
    end if;
    -- Control characters, and those that change the direction of the text after them. Paragraphs have line breaks.
    if (case limit_of.name when 'about' then replace(each_text, E'\n', '') else each_text end)
      ~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]'
    then
      raise exception 'The % has to be plain text%.', called, (case limit_of.name when 'about' then '' else ' on one line' end)
        using errcode = '22023';
    end if;
  end loop;
  if texts ->> 'privacy_url' !~ '^(https?://[^[:space:]<>"\\{}]+)?$' then
    raise exception 'The privacy address has to begin with https://.' using errcode = '22023';
  elsif texts ->> 'accent' !~ '^(#[0-9a-f]{6})?$' then
    raise exception 'The colour has six hexadecimal digits, such as #7a1f3d.' using errcode = '22023';
  end if;
end
$$;

revoke all on function private.check_page(jsonb) from public, anon, authenticated;

-- The texts of the page by name, blank for the default.
create or replace function private.page_texts(page private.page) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, to_jsonb(page) -> name) from jsonb_object_keys(private.page_limits()) as name
$$;

revoke all on function private.page_texts(private.page) from public, anon, authenticated;

-- The facts that are kept elsewhere, whether the page shows them or not: {starts_on, ends_on, venue, closes_on, closes_at, zone}
-- without those that are not known. `closes_on` is the last day on which people can apply, in the retreat's time zone;
-- `closes_at` is the time of that day, unless it is midnight.
create or replace function private.page_facts() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_strip_nulls(jsonb_build_object(
      'starts_on', newest.starts_on, 'ends_on', newest.ends_on, 'venue', nullif(newest.venue, ''),
      'closes_on', (closing - interval '1 microsecond')::date,
      'closes_at', case when closing::time <> '00:00' then to_char(closing, 'HH24:MI') end,
      'zone', case when closing::time <> '00:00' then coalesce(places.zone, 'UTC') end))
  from private.places cross join private.door
    cross join lateral (select * from private.editions order by id desc limit 1) as newest
    cross join lateral (
      select case when not closed and closes_at > now() and closes_at < '9999-12-31'
        then closes_at at time zone coalesce(places.zone, 'UTC') end as closing
    ) as door_closing
$$;

revoke all on function private.page_facts() from public, anon, authenticated;

-- What the applicants' page says: {title, tagline, badge, success, privacy_url, privacy_label, accent, cost, hear_back, about}
-- without the blank ones, and the facts that are shown.
create or replace function private.page_shown() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_strip_nulls((select jsonb_object_agg(key, nullif(value, '')) from jsonb_each_text(private.page_texts(page))))
    || (private.page_facts()
      - case when shows_days then '{}' else '{starts_on,ends_on}'::text[] end
      - case when shows_venue then '{}' else '{venue}'::text[] end
      - case when shows_closing then '{}' else '{closes_on,closes_at,zone}'::text[] end)
  from private.page
$$;

revoke all on function private.page_shown() from public, anon, authenticated;

-- The placeholders of letters about the retreat of an edition, blank as long as nothing is set: {retreat, days, venue}. The
-- retreat is called as its edition, otherwise as the page. A title's full stop would be in the middle of a sentence.
create or replace function private.retreat_placeholders(edition integer) returns jsonb
  language sql stable set search_path = ''
as $$
  -- An opening brace in a value must not begin another placeholder.
  select jsonb_object_agg(placeholder, regexp_replace(words, '\{(?=\{|$)', '{ ', 'g'))
  from private.page cross join private.editions cross join lateral (values
    ('retreat', coalesce(nullif(editions.name, ''),
      regexp_replace(coalesce(nullif(operator_title, ''), nullif(title, ''), 'Unplugged.'), '\.$', ''))),
    ('days', private.days_in_words(starts_on, ends_on)),
    ('venue', venue)
  ) as placeholders (placeholder, words)
  where editions.id = retreat_placeholders.edition
$$;

revoke all on function private.retreat_placeholders(integer) from public, anon, authenticated;

-- Stores the title that a server's settings have, for letters; blank for none.
create or replace function private.know_title(title text) returns void
  language sql set search_path = ''
as $$
  update private.page set operator_title = know_title.title where operator_title <> know_title.title
$$;

revoke all on function private.know_title(text) from public, anon, authenticated;

-- The number of places of an edition; null if it is not set.
create or replace function private.places_of(edition integer) returns integer
  language sql stable set search_path = ''
as $$
  select case when edition = max(id)
    then (select places from private.places) else max(places) filter (where id = edition) end
  from private.editions
$$;

revoke all on function private.places_of(integer) from public, anon, authenticated;

-- What a decision depends on besides the application: the number of accepted applications of an edition, without people who cannot
-- come, and of its places.
create or replace function private.acceptances(edition integer) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'accepted', private.count_with_status('accepted', edition, null) - (
      select count(*) from private.invitations join private.statuses using (application_id)
      where rsvp = 'not coming' and status = 'accepted' and statuses.edition = acceptances.edition
    ), 'places', private.places_of(edition))
$$;

revoke all on function private.acceptances(integer) from public, anon, authenticated;

-- Adds a server's counts to those of today: `counts` has the visits and starts of each source. A day has at most 200 different
-- names, of all servers together.
create or replace function private.count_visits(counts jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  today date := private.today();
  free_names integer;
begin
  -- One batch after the other, so that two servers neither exceed the limit together nor deadlock.
  lock table private.visits in share row exclusive mode;
  select 200 - count(*) into free_names from private.visits where day = today and source not in ('', 'other');
  insert into private.visits as stored (day, source, visits, starts)
    select today, case when is_known or position <= free_names then source else 'other' end, sum(visits), sum(starts)
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

-- Adds a person to the newest edition who did not apply. `person` has form answers: a first name and an email are required, and the
-- others may be missing. Nobody is told, unless `receipt` or `webhook` is set. Without `again`, nobody is added whose email is in this
-- edition already. The act's id becomes the application's, so that repeating the act adds nobody. The result is {application,
-- receipt, others}: the id of the added application, null if nobody was added; whether a receipt was written, which too many others
-- to the same address or company prevent; and up to twenty others of this email in this edition.
create or replace function public.desk_add(
  act uuid, person jsonb, again boolean default false, receipt boolean default false, webhook boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  newest integer := private.edition_in('{}');
  answers public.retreat_applications := jsonb_populate_record(null::public.retreat_applications, person);
begin
  if me.blind then
    raise exception 'Switch blind reading off to add a person.' using errcode = '22023';
  elsif private.trimmed(coalesce(answers.first_name, '')) = '' then
    raise exception 'Enter the first name of the person.' using errcode = '22023';
  end if;
  perform private.check_address(answers.email);
  if private.begin_act(act, 'desk_add', person::text, again::text, receipt::text, webhook::text) and (again or not exists (
    select from public.retreat_applications as other
    where private.person(other.email) = private.person(answers.email) and other.edition = newest
  )) then
    begin
      insert into public.retreat_applications (id, added_by, consent, first_name, last_name, email, phone, linkedin, company,
          paid_solution, custom_solution, team_size, reason)
        select act, me.email, false, answers.first_name, coalesce(answers.last_name, ''), answers.email, coalesce(answers.phone, ''),
          coalesce(answers.linkedin, ''), coalesce(answers.company, ''), coalesce(answers.paid_solution, ''),
          coalesce(answers.custom_solution, ''), coalesce(answers.team_size, ''), coalesce(answers.reason, '')
        returning * into answers;
    exception when unique_violation then
      raise exception 'Somebody added a person with exactly these answers already.' using errcode = 'PT409';
    end;
    perform private.write_down(answers.id, act, me.email, 'added', '{}');
    if receipt then perform private.write_receipt(answers); end if;
    if webhook then
      insert into private.deliveries (id, kind) values (answers.id, 'application');
    end if;
  end if;
  return jsonb_build_object('application', (select id from public.retreat_applications where id = act), 'receipt', exists (
    select from private.deliveries where application_id = desk_add.act and kind = 'receipt'
  ), 'others', (
    select coalesce(jsonb_agg(
      private.names(other) || jsonb_build_object('id', id, 'status', coalesce(status, 'new'))
      order by other.created_at desc, id desc), '[]')
    from (
      select id from public.retreat_applications as stored
      where private.person(stored.email) = private.person(desk_add.person ->> 'email') and stored.edition = newest and id <> act
      order by created_at desc, id desc limit 20
    ) as same_email
      join public.retreat_applications as other using (id) left join private.statuses on application_id = id
  ));
end
$$;

revoke all on function public.desk_add(uuid, jsonb, boolean, boolean, boolean) from public, anon, authenticated;
grant execute on function public.desk_add(uuid, jsonb, boolean, boolean, boolean) to authenticated;

-- Withdraws an application by the link in its receipt, or takes that back (`is_withdrawn` false). Repeating the act changes nothing,
-- and neither does what is so already. Nothing changes once the application is decided. Returns the application afterwards, as
-- `withdrawal_by_token` does.
create or replace function public.withdraw_application(token text, is_withdrawn boolean, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_receipt(token);
begin
  if act is null or is_withdrawn is null then
    raise exception 'An application is withdrawn or not, and the act has an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- Read again under the lock, since an organiser may have decided meanwhile.
  if public.withdrawal_by_token(token) ->> 'state' = (case when is_withdrawn then 'open' else 'withdrawn' end) then
    perform private.refuse_too_many_changes(application, act);
    if private.begin_act(act, 'withdraw_application', token, is_withdrawn::text) then
      perform private.set_withdrawn(application, act, is_withdrawn);
    end if;
  end if;
  return public.withdrawal_by_token(token);
end
$$;

revoke all on function public.withdraw_application(text, boolean, uuid) from public, anon, authenticated;
grant execute on function public.withdraw_application(text, boolean, uuid) to anon, authenticated;

-- Returns an application as the page of its receipt's link shows it. "state" is "open", "withdrawn", "decided", or "invalid", which
-- comes alone. The other keys are "first_name", null unless it is plain, and "applied_on", the day. Nothing else is returned: the
-- receipt went to an address that nobody verified.
create or replace function public.withdrawal_by_token(token text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_receipt(token);
begin
  if application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  return (
    select jsonb_build_object(
      'state', case when private.is_decision(status) then 'decided' when withdrawn_at is not null then 'withdrawn' else 'open' end,
      'first_name', private.plain_name(first_name),
      'applied_on', (stored.created_at at time zone coalesce(zone, 'UTC'))::date)
    from private.places
      cross join public.retreat_applications as stored left join private.statuses on application_id = stored.id
    where stored.id = application
  );
end
$$;

revoke all on function public.withdrawal_by_token(text) from public, anon, authenticated;
grant execute on function public.withdrawal_by_token(text) to anon, authenticated;

-- One application with everything that is known about it, its letters, and the state of all letters. Readers get no private
-- answers, no drafts, no texts of letters, and no state of all letters, which has the templates. `me`: the caller as an author.
-- `notes_seen_until`: the time up to which they have seen its notes. `failed_at`: when a letter to the applicant's address last
-- failed. `place` is its position in the list of a filter, null without a filter. The name `place` stays for desks that were
-- opened before an update.
create or replace function public.desk_application(application uuid, filter jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  shown integer := (select edition from public.retreat_applications where id = application);
begin
  return private.application_details(application, me.blind, hides_private => me.is_reader) || case when me.is_reader
    then jsonb_build_object('letters', private.sent_letters_of(array[application], true))
    else jsonb_build_object(
      'letters', private.letters_of(array[application], me.blind), 'overview', private.letters_overview(),
      'failed_at', case when not me.blind then (
        select private.last_failure(private.address_of(id, email)) from public.retreat_applications where id = application
      ) end) end
  || jsonb_build_object(
    'notes_seen_until', private.notes_seen_until(application, me.id),
    'me', private.author_shown(me.email, me.id),
    'marks', private.marks_shown(application, me.id),
    'is_marking', private.is_marked(shown),
    'acceptances', private.acceptances(shown),
    'stamp', private.stamp(application, me.id),
    'place', case when filter is not null then private.list_position(application, filter, me.blind, me.id) end
  );
end
$$;

-- Sets statuses, each only if its version is still the one that the caller saw. `decisions` is an array of {id, status, version,
-- takes_back}. The result has the outcome of each. `kept`: it is saved. `stale`: not saved, since somebody else changed it; the
-- result says who, and to what. `told`: not saved, since it would undo (`takes_back`) a decision whose letter was sent or is
-- being sent. `withdrawn`: not saved, since the applicant withdrew the application and would not get the letter about the decision.
-- `gone`: the application was erased. Repeating the act changes nothing.
create or replace function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
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
    perform from public.retreat_applications where id = decision.id;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, status, version) values (decision.id, 'new', 0) on conflict do nothing;
    select * into current_status from private.statuses where application_id = decision.id for update;
    select private.author_shown(author, author_id) as author, at into last_change
      from private.history where application_id = decision.id and kind = 'status' order by id desc limit 1;
    if is_repeat then
      outcome := case when decision.status = current_status.status or exists (
        select from private.history where application_id = decision.id and history.act = desk_decide.act
      ) then 'kept' else 'stale' end;
    elsif current_status.withdrawn_at is not null and private.is_decision(decision.status) then
      outcome := 'withdrawn';
    elsif decision.version is distinct from current_status.version then
      outcome := 'stale';
    elsif decision.takes_back and exists (
      select from private.letter_deliveries as delivery
      where delivery.application_id = decision.id and occasion = current_status.status and state in ('sending', 'sent')
    ) then
      outcome := 'told';
    else
      outcome := 'kept';
      if decision.status is distinct from current_status.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          decision.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', current_status.status)
        ) returning private.author_shown(author, author_id) as author, at into last_change;
        update private.statuses set status = decision.status, version = current_status.version + 1, set_at = now()
          where application_id = decision.id returning * into current_status;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', decision.id, 'outcome', outcome, 'status', current_status.status, 'version', current_status.version,
      'author', last_change.author, 'at', last_change.at
    );
  end loop;
  return private.end_act(act, outcomes);
end
$$;

-- A page of at most fifty history entries that belong to no application, the newest first, such as entries about the door,
-- places, retreats, letters in general and erasures. The result names them `happenings`.
create or replace function public.desk_history(after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  before_id bigint := coalesce((after ->> 'id')::bigint, 9223372036854775807);
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'happenings', coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'at', at, 'author', private.author_shown(author, author_id), 'kind', kind, 'detail', detail) order by id desc), '[]'),
      'next', case when count(*) = 50 then jsonb_build_object('id', min(id)) end)
    from (
      select * from private.history where application_id is null and id < before_id order by id desc limit 50
    ) as page
  );
end
$$;

-- Up to `most` applications with the state of their letters, and the cursor for the next call. Long form answers are cut, the
-- reason after its first line. An ellipsis says that the reason goes on. `reader` is true for a reader, and missing for others.
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
    'marks', private.mark_counts(found.ids, me.id), 'new_notes', private.with_new_notes(found.ids, me.id), 'applications', (
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
  )) || case when me.is_reader then '{"reader": true}' else '{}' end::jsonb;
end
$$;

-- The calling organiser's email, and their name if they have one. `reader` is true for a reader, and missing for others.
create or replace function public.desk_me() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object('email', me.email, 'name', name,
      'reader', nullif(me.is_reader, false)))
    from private.organisers where account_id = me.id
  );
end
$$;

create or replace function public.desk_organisers() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.organisers_shown();
end
$$;

revoke all on function public.desk_organisers() from public, anon, authenticated;
grant execute on function public.desk_organisers() to authenticated;

-- Removes an organiser, but not the last one who may do everything. Our own server's accounts go with their sessions; a hosted
-- project keeps the account, which then has no right. Returns all organisers.
create or replace function public.desk_remove_organiser(account uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  person text;
begin
  if private.has_own_accounts() then
    -- The account is locked before the organisers, as by an invitation.
    perform from auth.users where id = account for update;
  end if;
  person := private.organiser_to_change(account, stays => false);
  delete from private.organisers where account_id = account;
  if private.has_own_accounts() then
    delete from auth.users where id = account;
  end if;
  perform private.write_down_organiser(me.email, jsonb_build_object('organiser', person, 'is_removed', true));
  return private.organisers_shown();
end
$$;

revoke all on function public.desk_remove_organiser(uuid) from public, anon, authenticated;
grant execute on function public.desk_remove_organiser(uuid) to authenticated;

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
  return private.application_details(application, false, hides_private => me.blind);
end
$$;

-- Remembers that the caller has seen the notes about an application up to a time.
create or replace function public.desk_see_notes(application uuid, until timestamptz) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  insert into private.seen_notes (application_id, account_id, until)
    select id, me.id, least(desk_see_notes.until, now()) from public.retreat_applications where id = application for key share
    on conflict (application_id, account_id) do update set until = greatest(private.if_past(seen_notes.until), excluded.until);
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object('until', private.notes_seen_until(application, me.id));
end
$$;

revoke all on function public.desk_see_notes(uuid, timestamp with time zone) from public, anon, authenticated;
grant execute on function public.desk_see_notes(uuid, timestamp with time zone) to authenticated;

-- Sets the calling organiser's name; a blank one removes it.
create or replace function public.desk_set_name(name text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.set_organiser_name(me.id, name);
  return public.desk_me();
end
$$;

revoke all on function public.desk_set_name(text) from public, anon, authenticated;
grant execute on function public.desk_set_name(text) to authenticated;

-- Lets an organiser do everything, or makes them a reader. Returns all organisers.
create or replace function public.desk_set_reader(account uuid, is_reader boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.set_reader(account, is_reader, me.email);
  -- Not the call: the caller may have become a reader.
  return private.organisers_shown();
end
$$;

revoke all on function public.desk_set_reader(uuid, boolean) from public, anon, authenticated;
grant execute on function public.desk_set_reader(uuid, boolean) to authenticated;

-- Stores answers that somebody gave another way, such as by email. Required questions may stay unanswered.
create or replace function public.desk_answer_questions(act uuid, application uuid, answers jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.lock_accepted(application);
  if me.blind and exists (
    select from private.questions where is_private and id::text in (select jsonb_object_keys(answers))
  ) then
    raise exception 'Private questions are hidden while blind reading is on.' using errcode = '42501';
  elsif private.begin_act(act, 'desk_answer_questions', application::text, answers::text) then
    perform private.write_answers(application, act, me.email, answers);
  end if;
  return private.application_details(application, me.blind);
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
        and application.edition = private.edition_in(jsonb_build_object('edition', desk_guests.edition))
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

-- Returns an invitation as its page shows it. "state" is "open", "over" after the deadline, or "invalid", which comes alone. The
-- other keys are "first_name", "until" (the deadline), "answer" (the RSVP, or null) and "address" (where replies go). "retreat"
-- (`private.retreat`) is null for a person who is not coming: pages of 1.1.0 would show it, and offer the calendar. It is null
-- after the deadline, too, unless the person is coming. "questions" (`private.questions_of`) are null unless the person is
-- coming. No answer to a private question is returned, since a letter may be forwarded. The names are older than the words
-- invitation and RSVP, and published pages use them.
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
      'retreat', case when rsvp = 'coming' or rsvp is null and until >= private.today() then private.retreat(edition) end,
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

-- The numbers of places and RSVPs of an edition, by default the newest, and its waitlist. The result is {version, places,
-- days, zone, is_zone_set, site, today, edition, editions, erasing, retreat, questions, coming, not_coming, no_answer, late,
-- not_told, to_remind, free, waitlisted, waitlist}. `editions` are all editions, the newest first. `erasing`: the announced
-- applications (privacy/retention.sql). `retreat` has the edition's days and venue. `questions` has the number of its questions,
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
  shown integer := private.edition_in(jsonb_build_object('edition', edition));
begin
  return (
    with states as (
      -- Grouped first, so that the counts below compare words once a state and not once a row.
      select state, count(*) as people, count(*) filter (
          where is_to_be_reminded and not is_reminded
            -- A subquery that PostgreSQL hashes: a join would take three times as long.
            and application_id not in (select private.with_unsent_letter('reminder'))
        ) as to_remind
      from (
        select application_id, private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) as state,
          private.is_to_be_reminded(invitations, 'reminder', today) as is_to_be_reminded,
          coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
        from private.invitations join private.statuses using (application_id)
        where is_accepted and statuses.edition = shown
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
      from private.invitations join private.statuses using (application_id)
      where is_accepted and rsvp = 'coming' and statuses.edition = shown
        and (select private.has_required_questions(shown)) and private.has_open_questions(application_id)
    ), waiting as (
      select application_id, set_at from private.statuses
      where status = 'waitlisted' and statuses.edition = shown order by set_at, application_id limit 20
    )
    select to_jsonb(counted) || jsonb_build_object(
      'version', version, 'places', seats, 'days', days, 'zone', coalesce(settings.zone, 'UTC'),
      'is_zone_set', settings.zone is not null, 'site', site,
      'today', today, 'edition', shown, 'editions', private.editions_shown(),
      'erasing', private.announced_applications(), 'retreat', (
        select jsonb_build_object('version', calendar_sequence, 'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
        from private.editions where editions.id = shown
      ), 'questions', jsonb_build_object(
        'questions', (select count(*) from private.questions where questions.edition = shown),
        'open', open_questions.people
      ), 'to_remind',
        least(counted.to_remind, 1000) + least(open_questions.to_remind, 1000),
      'free', seats - coming - no_answer - not_told,
      'waitlisted', private.count_with_status('waitlisted', shown, null),
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
    from private.places as settings, counted, open_questions, lateral (select private.places_of(shown) as seats) as known
  );
end
$$;

-- The questions of an edition, by default the newest: {edition, version, questions, until, closes_on, private_days, erased_on,
-- due}. `until` is the last day for answers if organisers set it, and `closes_on` the one that counts. `due` counts the private
-- answers of all editions that are due to be erased. Each question has the number of its `answers`.
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
    from private.editions as shown where id = private.edition_in(jsonb_build_object('edition', desk_questions.edition))
  );
end
$$;

-- Drafts reminders for people of an edition, by default the newest: those without an RSVP after half of their days, the earliest
-- deadline first, and guests with open questions. It drafts at most 1,000 of each at once. Nobody is reminded twice in three
-- days. The result is {drafted, questions, late, waiting, reminded, more}. `questions` counts the drafted ones about questions,
-- and `late` those whose deadline has to be moved first. `waiting` counts people with a reminder that is not sent yet, and
-- `reminded` those who got one in the last three days. Repeating the act drafts none and returns the first result. A desk of
-- version 1.0 sends no `act`.
create or replace function public.desk_remind(act uuid default null, edition integer default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  today constant date := private.today();
  shown integer := private.edition_in(jsonb_build_object('edition', edition));
  found record;
  guests record;
  drafted uuid[];
  drafted_to_guests uuid[];
begin
  perform private.caller();
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_remind', variadic array_remove(array[edition::text], null)) then
    return (select result from private.acts where acts.act = desk_remind.act);
  end if;
  perform from private.templates where name in ('reminder', 'questions') order by name for key share;
  found := private.to_remind('reminder', shown, today);
  guests := private.to_remind('questions', shown, today);
  perform private.lock_for_letters(found.wanted[:1000] || guests.wanted[:1000]);
  drafted := private.draft_reminders('reminder', found.wanted[:1000], today);
  drafted_to_guests := private.draft_reminders('questions', guests.wanted[:1000], today);
  return private.end_act(act, jsonb_build_object(
    'drafted', cardinality(drafted) + cardinality(drafted_to_guests), 'questions', cardinality(drafted_to_guests),
    'late', (
      select count(*) from private.invitations
      where application_id = any (drafted) and deadline < today
    ),
    'waiting', found.waiting + guests.waiting, 'reminded', found.reminded + guests.reminded,
    'more', cardinality(found.wanted) > 1000 or cardinality(guests.wanted) > 1000
  ));
end
$$;

-- Sets the number of places, null for unknown; the days that people have for their RSVP; and the time zone of deadlines,
-- null to leave it unchanged.
create or replace function public.desk_set_places(version integer, places integer, days integer, zone text default null) returns jsonb
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
  elsif (former.places, former.days, former.zone) is not distinct from (places, days, zone) then
    return public.desk_places();
  elsif former.version is distinct from desk_set_places.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.places as settings set version = former.version + 1, places = desk_set_places.places,
    days = desk_set_places.days, zone = desk_set_places.zone;
  insert into private.history (author, kind, detail)
    values (me.email, 'places', jsonb_build_object('places', places, 'days', days)
      || case when zone is distinct from former.zone then jsonb_build_object('zone', zone) else '{}' end);
  return public.desk_places();
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
    return public.desk_questions(former.id);
  elsif former.questions_version is distinct from desk_set_questions.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  -- In the order of locks: announcements before questions, and questions before their answers.
  if former.private_days is distinct from desk_set_questions.private_days then
    perform private.end_announcements(former.id, 'answers');
  end if;
  perform from private.questions where questions.edition = former.id order by id for update;
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

-- When a letter to an address last failed or came back: {failed_at}, null if none did.
create or replace function public.desk_address(address text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    raise exception 'Switch blind reading off to change an address.' using errcode = '22023';
  end if;
  return jsonb_build_object('failed_at', private.last_failure(address));
end
$$;

revoke all on function public.desk_address(text) from public, anon, authenticated;
grant execute on function public.desk_address(text) to authenticated;

-- Records that a sent letter came back, so that it counts as refused and the applicant as not told. `letter` is the id of its
-- delivery.
create or replace function public.desk_came_back(act uuid, letter uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sent private.deliveries;
begin
  if me.blind then
    raise exception 'Switch blind reading off to record that a letter came back.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_came_back', letter::text) then
    perform private.lock_letters(array[letter]);
    select * into sent from private.deliveries where id = letter;
    if private.can_come_back(sent) is not true then
      raise exception 'This letter has changed meanwhile: somebody dealt with it, or it was sent or drafted again.'
        using errcode = 'PT409';
    end if;
    perform private.write_down(sent.application_id, act, me.email, 'returned', (
      select jsonb_build_object('occasion', occasion, 'way', way) from private.letter_deliveries where id = sent.id
    ));
    perform private.return_letter(sent);
  end if;
  return private.letter_deliveries_shown(array[letter], false) -> 0;
end
$$;

revoke all on function public.desk_came_back(uuid, uuid) from public, anon, authenticated;
grant execute on function public.desk_came_back(uuid, uuid) to authenticated;

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
    where not private.happened_within(check_wanted_at, '10 seconds');
  return jsonb_build_object('is_checking', true);
end
$$;

-- Up to fifty drafts of one template, the oldest first. Without an occasion (null), those of all decisions, status by status.
create or replace function public.desk_drafts(occasion text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  occasions constant text[] := case when occasion is null then '{accepted,waitlisted,declined}' else array[occasion] end;
  ids uuid[] := array(
    select id from private.letters
    where coalesce(template, '') = any (occasions) and state = 'draft'
      and (array_position(occasions, coalesce(template, '')), drafted_at, id) > (
        coalesce((after ->> 'position')::integer, 1),
        coalesce((after ->> 'at')::timestamptz, '-infinity'),
        coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
    order by array_position(occasions, coalesce(template, '')), drafted_at, id limit 50
  );
begin
  return jsonb_build_object('letters', private.drafts_shown(ids, me.blind), 'overview', private.letters_overview(), 'next', (
    select jsonb_build_object('position', array_position(occasions, coalesce(template, '')), 'at', drafted_at, 'id', id)
    from private.letters where id = ids[50]
  ));
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
  elsif (draft.subject, draft.body) is not distinct from (nullif(desk_edit.subject, ''), nullif(desk_edit.body, '')) then
    return private.drafts_shown(array[draft.id], false) -> 0;
  elsif private.draft_text(draft, false) ->> 'seen' is distinct from seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set subject = nullif(desk_edit.subject, ''), body = nullif(desk_edit.body, ''),
    version = version + 1
    where id = draft.id;
  return private.drafts_shown(array[draft.id], false) -> 0;
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
  perform private.refuse_withdrawn(draft.application_id);
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
    raise exception 'This letter has a deadline: first save the time zone under Retreat.' using errcode = '22023';
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

-- Which emails about applications the caller gets, and whether a server sends them.
create or replace function public.desk_notices() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('notices', notices, 'day_due_at', case when notices <> 'off' then day_due_at end,
      'email', me.email, 'is_postman_there', private.is_postman_there())
    from private.organisers where account_id = me.id
  );
end
$$;

-- Resends an undelivered letter to another address. All later letters to this applicant go there, too. The letter can be stopped
-- for a minute, as after its release. Where no server emails letters, it becomes a draft, for an organiser to send. `letter` is the
-- id of the failed delivery.
create or replace function public.desk_readdress(act uuid, letter uuid, address text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  failed private.deliveries;
begin
  if me.blind then
    raise exception 'Switch blind reading off to change an address.' using errcode = '22023';
  end if;
  perform private.check_address(address);
  if private.begin_act(act, 'desk_readdress', letter::text, address) then
    perform private.lock_letters(array[letter]);
    select * into failed from private.deliveries where id = letter;
    if (failed.kind, failed.state) is distinct from ('letter', 'failed') then
      raise exception 'This letter no longer needs another address.' using errcode = 'PT409';
    end if;
    perform private.refuse_withdrawn(failed.application_id);
    perform private.write_down(failed.application_id, act, me.email, 'address',
      jsonb_build_object('address', address, 'occasion', (
        select coalesce(template, '') from private.letters where id = failed.letter_id)));
    insert into private.addresses (application_id, address) values (failed.application_id, desk_readdress.address)
      on conflict (application_id) do update set address = excluded.address;
    perform private.retry_failed(array[failed.id]);
    if private.is_postman_there() then
      update private.deliveries set due_at = now() + (select hold from private.letter_settings),
          act = coalesce(deliveries.act, desk_readdress.act)
        where id = failed.id;
    else
      perform private.recall(array[failed.id], me.email);
      perform private.settle_letter(delivery) from private.deliveries as delivery where id = failed.id;
    end if;
  end if;
  return private.letter_deliveries_shown(array[letter], false) -> 0;
end
$$;

-- Releases drafts, an array of {id, seen}: they are sent after a minute. `seen` identifies the text that the organiser read: a
-- digest of the template's text, or the version of an edited letter (`draft_text`). For more than thirty letters, `number` must
-- equal their count. Letters that were sent before need `again`, except reminders. The result has the outcome of each.
-- `released`: it is queued. `gone`: it is no longer a draft, its decision is no longer current, or its questions cannot be answered
-- any more. `withdrawn`: the applicant withdrew the application. `changed`: since it was read. `missing`: a placeholder is blank or
-- unknown. `long`: too long once filled in. `again`: sent before. Without a mail server the decision goes to the automation, which
-- emails the applicant.
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
      when private.is_withdrawn(letter.application_id) then 'withdrawn'
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

-- Removes a template that organisers created, by its name, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
begin
  if occasion in (select name from private.first_templates()) then
    raise exception 'The templates of the receipt, the decisions, the reminders and the confirmation stay.' using errcode = '22023';
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

-- `letters` are the ids of deliveries.
create or replace function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  if not private.is_postman_there() and exists (
    select from private.deliveries where id = any (letters) and kind in ('letter', 'receipt') and state = 'failed'
  ) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  end if;
  return jsonb_build_object('retried', private.retry_letters(letters));
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
  elsif not private.is_postman_there() then
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
      and private.happened_within(queued_at, '1 hour')
  ) >= 20 then
    raise exception 'At most twenty test emails an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (act, 'test', me.id, (text ->> 'application')::uuid,
      '[Test] ' || private.with_deadline(text ->> 'subject', (text ->> 'reply_by')::date),
      private.with_deadline(text ->> 'body', (text ->> 'reply_by')::date));
  update private.first_steps set ticked = ticked || '{test}' where not 'test' = any (ticked);
  return jsonb_build_object('to', me.email);
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
  perform private.refuse_withdrawn(draft.application_id);
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
  kept.receipts := coalesce(desk_set_letters.receipts, former.receipts);
  kept.confirmations := coalesce(desk_set_letters.confirmations, former.confirmations);
  if kept is distinct from former then
    if former.version <> desk_set_letters.version then
      raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
    end if;
    kept.version := former.version + 1;
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
  end if;
  return jsonb_build_object('version', kept.version, 'reply_to', kept.reply_to, 'receipts', kept.receipts,
    'confirmations', kept.confirmations);
end
$$;

-- Changes the template with the name `occasion`, or creates one (version null). Drafts that nobody edited change with it.
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
  end if;
  if saved.name is null then
    -- A reminder or a letter that begins meanwhile does not wait for this lock.
    select * into saved from private.templates where name = occasion for no key update;
    if (saved.subject, saved.body) = (desk_set_template.subject, desk_set_template.body) then
      return private.template_shown(saved);
    elsif (saved.version = desk_set_template.version) is not true then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    update private.templates as template
      set subject = desk_set_template.subject, body = desk_set_template.body, version = saved.version + 1
      where name = occasion returning * into saved;
  end if;
  perform private.write_down_letters(me.email, jsonb_build_object('template', occasion));
  return private.template_shown(saved);
end
$$;

-- Drafts letters of a template; with `again`, even if it was sent before. The result has the outcome of each: drafted, written (a
-- draft or a letter exists already, in the returned `state`), undecided (another decision is current), withdrawn (the applicant
-- withdrew) or gone. Repeating the act drafts none and returns the first result. A desk of version 1.0 sends no `act`.
create or replace function public.desk_write(applications uuid[], occasion text, again boolean default false, act uuid default null)
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
  elsif occasion = 'received' then
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
        when private.is_withdrawn(application) then 'withdrawn'
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
  perform private.refuse_withdrawn(application);
  insert into private.letters (id, application_id, subject, body)
    values (act, application, desk_write_to.subject, desk_write_to.body) on conflict do nothing;
  return private.drafts_shown(array[act], false) -> 0;
end
$$;

-- Everything about the person of an application, with their hundred newest applications.
create or replace function public.desk_all_about(application uuid) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  person_email text := (select email from public.retreat_applications where id = application);
begin
  if me.blind then
    raise exception 'Everything about a person is hidden while blind reading is on.' using errcode = '42501';
  elsif person_email is null then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return private.all_about(person_email, me.id, 100, private.emails_of(application));
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
  perform private.lock_for_erasing(applications);
  if exists (
    select from public.retreat_applications as application
    where id = any (applications)
      and private.person(application.email) is distinct from private.person(desk_erase.email)
  ) then
    raise exception 'This is not the email of this application.' using errcode = '22023';
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
        select coalesce(jsonb_agg(jsonb_build_object('id', application_id, 'held_by', private.author_shown(held_by), 'held_at', held_at)
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

-- Sets after how many months applications are erased, null for never. Seven days of announcements begin again.
create or replace function public.desk_set_retention(version integer, months integer, months_for_guests integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.retention;
begin
  if not coalesce(months between 1 and 120, true) or not coalesce(months_for_guests between 1 and 120, true) then
    raise exception 'Applications are erased 1 to 120 months after the retreat, or never.' using errcode = '22023';
  end if;
  select * into former from private.retention for update;
  if (former.months, former.months_for_guests) is not distinct from (months, desk_set_retention.months_for_guests) then
    return public.desk_retention();
  elsif former.version is distinct from desk_set_retention.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.retention set version = former.version + 1, months = desk_set_retention.months,
    months_for_guests = desk_set_retention.months_for_guests;
  perform private.end_announcements(id, 'applications') from private.editions order by id;
  insert into private.history (author, kind, detail)
    values (me.email, 'retention', jsonb_build_object('months', months, 'months_for_guests', months_for_guests));
  return public.desk_retention();
end
$$;

-- Waits until nobody reads or writes applications, and blocks reading and writing until the transaction ends. It also locks the
-- rows that a new edition changes, since other calls lock them before applications. A waiting lock request blocks all later
-- applicants, so each attempt waits only briefly, and all attempts together less than a statement may take.
create or replace function private.lock_all_applications() returns void
  language plpgsql set search_path = '' set lock_timeout = '100ms'
as $$
begin
  for attempt in 1 .. 20 loop
    begin
      lock table public.retreat_applications in access exclusive mode;
      perform from private.door for update;
      perform from private.editions order by id for update;
      perform from private.places for update;
      perform from private.page for update;
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

revoke all on function private.lock_all_applications() from public, anon, authenticated;

-- Gives drafts that still have their template's text these texts.
create or replace function private.freeze_texts(drafts private.letters[]) returns void
  language sql set search_path = ''
as $$
  update private.letters as letter set version = letter.version + 1, subject = filled.subject, body = filled.body
    from unnest(drafts) as filled
    where letter.id = filled.id and letter.state = 'draft' and letter.subject is null
$$;

revoke all on function private.freeze_texts(private.letters[]) from public, anon, authenticated;

-- Sets the product's templates to their first texts and removes the organisers' own templates that have no draft. A letter that
-- can still be stopped counts as a draft, since it becomes one then. Drafts keep the texts that they have. `drafts`: the result
-- of `private.filled_drafts` before the applications were locked, so that few are filled in meanwhile.
create or replace function private.reset_templates(drafts private.letters[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.freeze_texts(drafts);
  perform private.freeze_texts(array(select draft from private.filled_drafts() as draft));
  -- A letter that can still be stopped becomes a draft with the text that would have been sent.
  update private.letters as letter set subject = delivery.subject, body = delivery.body
    from private.deliveries as delivery
    where delivery.letter_id = letter.id and private.is_main(delivery) and delivery.state in ('waiting', 'sending', 'failed')
      and letter.state = 'released' and letter.subject is null;
  delete from private.templates as own where name not in (select name from private.first_templates()) and not exists (
    select from private.letters
    where template = own.name and (state = 'draft' or state = 'released' and private.is_undelivered(id))
  );
  update private.templates as former set subject = first.subject, body = first.body, version = former.version + 1
    from private.first_templates() as first
    where first.name = former.name and (first.subject, first.body) is distinct from (former.subject, former.body);
end
$$;

-- Begins the next edition at once: from now on, applications belong to it. `newest` is the number of the newest edition that the
-- organiser saw. `copied` says what the previous edition passes on: {templates, questions, places}, each a boolean. The door
-- stays open or closed, also if a limit closed it, and its count of applications begins at 0. The page no longer says when people
-- hear back, since that day belongs to the previous edition. For an hour, an application that the
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
  perform private.lock_all_applications();
  select * into former from private.editions order by id desc limit 1 for update;
  if former.id is distinct from newest then
    raise exception 'Somebody else has begun a retreat meanwhile.' using errcode = 'PT409';
  end if;
  start := clock_timestamp();
  insert into private.editions (id, name, began_at, starts_on, ends_on)
    values (former.id + 1, desk_begin_edition.name, start, desk_begin_edition.starts_on, desk_begin_edition.ends_on);
  update private.editions set places = (select places.places from private.places) where id = former.id;
  execute format('alter table public.retreat_applications alter column edition set default %s', former.id + 1);
  update private.door set version = (private.door_state() ->> 'version')::integer + 1,
    closed = closed or coalesce(received >= closes_after, false), received = 0, opened_at = start,
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
  -- The page's screen shows the former text.
  insert into private.history (author, kind, detail)
    select me.email, 'page', jsonb_build_object('hear_back', hear_back) from private.page where hear_back <> '';
  update private.page set version = version + 1, hear_back = '' where hear_back <> '';
  insert into private.history (act, author, kind, detail)
    values (desk_begin_edition.act, me.email, 'edition', jsonb_build_object('edition', former.id + 1, 'name', desk_begin_edition.name));
  return public.desk_places();
end
$$;

-- The state of the door, and its last change as `history`, a list of at most one entry.
create or replace function public.desk_door() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.door_state() || jsonb_build_object('history', (
    select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', private.author_shown(author, author_id), 'kind', kind, 'detail', detail)), '[]')
    from (
      select * from private.history where application_id is null and kind = 'door' order by id desc limit 1
    ) as newest
  ));
end
$$;

-- The first steps: `done` has those that the database knows to be done, `ticked` those that organisers ticked.
-- `has_mail`: whether a server sends emails now. `has_server`: whether a server of ours ever worked on this database. Otherwise a hosted project makes the backups.
create or replace function public.desk_first_steps() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  has_erased constant boolean := exists (select from private.erasures);
begin
  return (
    select jsonb_build_object(
      'done', array_remove(array[
        case when newest.starts_on is not null and places.places is not null and places.zone is not null then 'days' end,
        case when has_erased or exists (select from public.retreat_applications) then 'application' end,
        case when has_erased then 'erased' end,
        case when private.is_recent(seen_at) and failing_since is null and checked_at > '-infinity' and not exists (
          select from jsonb_array_elements(findings) as finding where finding ->> 'verdict' = 'wrong'
        ) then 'mail' end,
        case when page.version > 0 then 'page' end,
        case when exists (select from private.questions where edition = newest.id) then 'questions' end,
        case when door.version > 0 then 'door' end,
        case when private.is_shared() and not exists (
          select from private.organisers join auth.users on users.id = account_id where last_sign_in_at is null
        ) then 'colleagues' end,
        case when exists (
          select from auth.mfa_factors where user_id = me.id and status::text = 'verified'
        ) then 'factor' end,
        case when organisers.notices <> 'off' then 'notices' end,
        case when backed_up_at > now() - interval '2 days' then 'backups' end
      ], null),
      'ticked', ticked,
      'has_mail', private.is_recent(seen_at),
      'has_server', site <> '' or backed_up_at is not null or exists (select from private.visits)
    )
    from private.first_steps, private.places, private.postman, private.door, private.page, private.organisers, (
      select id, starts_on from private.editions order by id desc limit 1
    ) as newest
    where organisers.account_id = me.id
  );
end
$$;

revoke all on function public.desk_first_steps() from public, anon, authenticated;
grant execute on function public.desk_first_steps() to authenticated;

-- What the applicants' page says, and what it could show: {version, texts, shown, facts, page, history}. `texts` has every text,
-- blank for the default. `shown` says which of the facts that are kept elsewhere it shows: {days, venue, closing}. `facts` are
-- these facts themselves. `page` is what the page says now. `history` has the last change, as a list of at most one entry; its
-- `detail` has the former values.
create or replace function public.desk_page() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'version', page.version,
      'texts', private.page_texts(page),
      'shown', jsonb_build_object('days', shows_days, 'venue', shows_venue, 'closing', shows_closing),
      'facts', private.page_facts(),
      'page', private.page_shown(),
      'history', (
        select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', private.author_shown(author, author_id), 'kind', kind, 'detail', detail)), '[]')
        from (
          select * from private.history where application_id is null and kind = 'page' order by id desc limit 1
        ) as last
      ))
    from private.page
  );
end
$$;

revoke all on function public.desk_page() from public, anon, authenticated;
grant execute on function public.desk_page() to authenticated;

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
  -- A call without a version changes nothing: -1 never matches.
  return private.set_door(me.email, coalesce(version, -1), closed, sentence, closes_at, closes_after);
end
$$;

-- Sets what the applicants' page says: `texts` and `shown` as in the result of `desk_page`. A text that is left out is blank. The
-- history gets the former values of what changed.
create or replace function public.desk_set_page(version integer, texts jsonb, shown jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.page;
  changed private.page;
begin
  if jsonb_typeof(texts) is distinct from 'object' or jsonb_typeof(shown) is distinct from 'object' then
    raise exception '“texts” and “shown” have to be objects.' using errcode = '22023';
  end if;
  select coalesce(jsonb_object_agg(key, case key
      when 'about' then private.trimmed(regexp_replace(replace(value, E'\t', ' '), E'\r\n?', E'\n', 'g'))
      when 'accent' then lower(private.trimmed(value))
      else private.trimmed(value) end), '{}')
    into texts from jsonb_each_text(texts);
  perform private.check_page(texts);
  select * into former from private.page for update;
  changed := jsonb_populate_record(former, (
      select jsonb_object_agg(name, coalesce(texts ->> name, '')) from jsonb_object_keys(private.page_limits()) as name
    ) || jsonb_strip_nulls(jsonb_build_object(
      'shows_days', shown -> 'days', 'shows_venue', shown -> 'venue', 'shows_closing', shown -> 'closing')));
  if changed = former then
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
    return public.desk_page();
  elsif former.version is distinct from desk_set_page.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.page set version = former.version + 1, title = changed.title, tagline = changed.tagline, badge = changed.badge,
    success = changed.success, privacy_url = changed.privacy_url, privacy_label = changed.privacy_label,
    accent = changed.accent, cost = changed.cost, hear_back = changed.hear_back, about = changed.about,
    shows_days = changed.shows_days, shows_venue = changed.shows_venue, shows_closing = changed.shows_closing;
  insert into private.history (author, kind, detail)
    select me.email, 'page', jsonb_object_agg(before.key, before.value)
    from jsonb_each(to_jsonb(former)) as before join jsonb_each(to_jsonb(changed)) as after using (key)
    where before.value <> after.value;
  return public.desk_page();
end
$$;

revoke all on function public.desk_set_page(integer, jsonb, jsonb) from public, anon, authenticated;
grant execute on function public.desk_set_page(integer, jsonb, jsonb) to authenticated;

-- Sets the days and the venue of an edition, by default the newest. Both days are null if they are unknown. Nobody gets an email
-- about a change: people who are coming see it on their page.
create or replace function public.desk_set_retreat(
  version integer, starts_on date, ends_on date, venue text, edition integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  settings private.places;
begin
  venue := btrim(coalesce(venue, ''));
  perform private.check_days(starts_on, ends_on);
  if char_length(venue) > 200 or venue ~ '[[:cntrl:]]' then
    raise exception 'The venue is one line of at most 200 characters.' using errcode = '22023';
  end if;
  select * into former from private.editions
    where id = coalesce(desk_set_retreat.edition, (select max(id) from private.editions)) for update;
  if (former.starts_on, former.ends_on, former.venue) is not distinct from (starts_on, ends_on, venue) then
    return public.desk_places(edition => former.id);
  elsif former.calendar_sequence is distinct from desk_set_retreat.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.editions as kept set starts_on = desk_set_retreat.starts_on, ends_on = desk_set_retreat.ends_on,
    venue = desk_set_retreat.venue, calendar_sequence = former.calendar_sequence + 1
    where id = former.id;
  if former.ends_on is distinct from desk_set_retreat.ends_on then
    perform private.end_announcements(former.id, subject) from unnest(array['applications', 'answers']) as subject;
  end if;
  -- Desks that were opened before an update need the numbers of places and days in it.
  select * into settings from private.places;
  insert into private.history (author, kind, detail)
    values (me.email, 'places', jsonb_build_object('places', settings.places, 'days', settings.days, 'starts_on', starts_on,
      'ends_on', ends_on, 'venue', venue));
  return public.desk_places(edition => former.id);
end
$$;

-- Ticks a first step, or unticks it, for all organisers.
create or replace function public.desk_tick_step(step text, is_done boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  if is_done is null then
    raise exception '“is_done” has to be true or false.' using errcode = '22023';
  elsif step is null or step <> all (
    '{days,mail,page,questions,application,read,test,door,colleagues,factor,notices,backups,erased,shared}'
  ) then
    raise exception 'There is no such step.' using errcode = '22023';
  end if;
  update private.first_steps
    set ticked = array_remove(ticked, step) || case when is_done then array[step] else '{}' end
    where (step = any (ticked)) <> is_done;
  return public.desk_first_steps();
end
$$;

revoke all on function public.desk_tick_step(text, boolean) from public, anon, authenticated;
grant execute on function public.desk_tick_step(text, boolean) to authenticated;

-- The last 90 days, the oldest first: visits, starts, and applications that are not put aside. Also the 20 sources with the most
-- visits in these days. `is_counted`: whether a server has ever counted.
create or replace function public.desk_visits() returns jsonb
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
        -- The bounds of a day, so that each count reads a range of an index.
        cross join lateral (
          select day::timestamp at time zone zone as begins, (day + 1)::timestamp at time zone zone as ends
        ) as bounds
        cross join lateral (
          select count(*) as received from public.retreat_applications where created_at >= begins and created_at < ends
        ) as applied
        cross join lateral (
          select count(*) as put_aside from private.statuses
          -- The first condition is for the index, which begins with the edition.
          where edition = any (array(select id from private.editions)) and status = 'aside' and created_at >= begins
            and created_at < ends
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

drop function if exists private.has_room(private.postman);

drop function if exists private.hold_applications();

drop function if exists private.is_of(uuid, integer, boolean);

drop function if exists private.keep_texts(private.letters[]);

drop function if exists private.write_rsvp_notices(uuid, uuid);
