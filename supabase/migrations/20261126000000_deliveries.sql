-- Deliveries take the place of three outboxes: of applications, of RSVPs, and of notices and tests (docs/decisions/0058).
-- Invitations take the place of acceptances, and addresses that organisers set get a table (docs/decisions/0059).

create table private.deliveries (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('application', 'rsvp', 'notice', 'test')),
  application_id uuid references public.retreat_applications (id) on delete cascade,
  event_id bigint references private.history (id) on delete cascade,
  organiser_id uuid references private.organisers (account_id) on delete cascade,
  since timestamptz,
  until timestamptz,
  subject text,
  body text,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'done', 'failed', 'cancelled')),
  queued_at timestamptz not null default now(),
  due_at timestamptz default now(),
  attempts integer not null default 0,
  tried_at timestamptz,
  done_at timestamptz,
  reply_status integer,
  reply text not null default '',
  may_have_arrived integer not null default 0,
  closings integer not null default 0,
  constraint deliveries_about check (case kind
    when 'application' then application_id = id
    when 'rsvp' then application_id is not null and event_id is not null
    when 'notice' then organiser_id is not null and (application_id is null) = (until is not null)
    else organiser_id is not null end),
  constraint deliveries_due check ((state in ('waiting', 'sending')) = (due_at is not null)),
  constraint deliveries_done check ((state = 'done') = (done_at is not null))
);
alter table private.deliveries enable row level security;
revoke all on table private.deliveries from public, anon, authenticated;

create table private.invitations (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  token uuid not null unique default gen_random_uuid(),
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
insert into private.deliveries (id, kind, application_id, state, queued_at, due_at, attempts, tried_at, done_at,
  reply_status, reply)
select application_id, 'application', application_id,
  case when delivered_at is not null then 'done' when next_attempt_at is null then 'failed' else 'waiting' end,
  -- The first versions did not store it.
  coalesce(queued_at, created_at), case when delivered_at is null then next_attempt_at end, attempts, waits_since,
  delivered_at, last_status, coalesce(last_answer, '')
from private.webhook_outbox join public.retreat_applications on id = application_id;

insert into private.deliveries (id, kind, application_id, event_id, state, queued_at, due_at, attempts, tried_at, reply)
select id, 'rsvp', application_id, answer_id, case when next_attempt_at is null then 'failed' else 'waiting' end, queued_at,
  next_attempt_at, attempts, waits_since, last_answer
from private.answer_outbox;

-- Nothing that a letter or an RSVP changes meanwhile gets lost. Letters come first, as everywhere; the references of deliveries have
-- locked the history.
lock table private.letters, private.acceptances in share row exclusive mode;

insert into private.invitations (
  application_id, token, is_accepted, told_at, reminded_at, deadline, is_deadline_set, rsvp, rsvp_at)
select application_id, token, is_accepted, told_at, (
    select max(sent_at) from private.letters
    where letters.application_id = acceptance.application_id and occasion = 'reminder' and state = 'sent'
  ), kept_until,
  -- The first versions had it in the history alone.
  coalesce(is_deadline_set, kept_until is not null and exists (
    select from private.history where history.application_id = acceptance.application_id and kind = 'kept'
  )), answer, answered_at
from private.acceptances as acceptance;

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
  then
    raise exception 'Not every delivery was taken over: nothing was changed.';
  elsif (select count(*) from private.invitations) <> (select count(*) from private.acceptances)
    or (select count(rsvp) from private.invitations) <> (select count(answer) from private.acceptances)
  then
    raise exception 'Not every invitation was taken over: nothing was changed.';
  end if;
end
$$;

create index deliveries_of_application on private.deliveries (application_id);
create unique index deliveries_of_event on private.deliveries (event_id, kind, organiser_id) nulls not distinct
  where event_id is not null;
create index deliveries_of_organiser on private.deliveries (organiser_id, kind, queued_at) where organiser_id is not null;
create index deliveries_due on private.deliveries (kind, due_at) where due_at is not null;
create index deliveries_open on private.deliveries (kind, state, queued_at) where state in ('waiting', 'sending', 'failed');

-- Where a server of ours queues deliveries it goes on with the new table at once, also before it is started again.
do $$
begin
  if to_regprocedure('private.enqueue_deliveries()') is not null then
    create or replace function private.enqueue_deliveries() returns trigger
      language plpgsql security definer set search_path = ''
    as $function$
begin
  insert into private.deliveries (id, kind, application_id) select id, 'application', id from arrived;
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
drop table private.acceptances;
alter function private.keep_acceptance() rename to keep_invitation;

-- No trigger names the columns of an application: each takes it as a whole.
create function private.search_octets(application public.retreat_applications) returns integer
  language sql immutable parallel safe
  return 3 * (octet_length(application.first_name) + octet_length(application.last_name) + octet_length(application.email)
      + octet_length(application.linkedin) + octet_length(application.company) + octet_length(application.custom_solution)
      + octet_length(application.reason))
    - 2 * (char_length(application.first_name) + char_length(application.last_name) + char_length(application.email)
      + char_length(application.linkedin) + char_length(application.company) + char_length(application.custom_solution)
      + char_length(application.reason));
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

-- The functions that changed. `npm run schema` writes what follows: edit the declared schema instead.
-- A limit against abuse alone, far beyond what anybody writes. A trigger and no constraint, so that older rows stay, also in a
-- restored backup, and so that an applicant reads a sentence.
create or replace function private.refuse_too_long() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  answer record;
begin
  for answer in
    select key as name, value as said, case when key in ('custom_solution', 'reason') then 100000 else 10000 end as most
    from jsonb_each_text(to_jsonb(new))
  loop
    if char_length(answer.said) > answer.most then
      raise exception 'The answer "%" is too long: it may have up to % characters.',
        answer.name, ltrim(to_char(answer.most, '999,999')) using errcode = '23514', column = answer.name;
    end if;
  end loop;
  return new;
end
$$;

-- The words of an application. Organisers who read blind search without the personal answers.
create function private.words(application public.retreat_applications, blind boolean) returns tsvector
  language sql immutable parallel safe
  return case
    when blind then private.search_vector('', '', '', '', '', application.custom_solution, application.reason)
    else private.search_vector(application.first_name, application.last_name, application.email, application.linkedin,
      application.company, application.custom_solution, application.reason)
  end;

revoke all on function private.words(retreat_applications, boolean) from public, anon, authenticated;

create or replace function private.keep_search_vectors() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  answers tsvector;
begin
  -- An application that a change made short keeps its words, too.
  if tg_op = 'INSERT' and private.search_octets(new) <= 2000 then return null; end if;
  -- The long answers are folded once.
  answers := private.words(new, true);
  insert into private.search_vectors values (new.id, strip(answers || private.search_vector(
      new.first_name, new.last_name, new.email, new.linkedin, new.company, '', '')), strip(answers))
    on conflict (application_id) do update set vector = excluded.vector, blind_vector = excluded.blind_vector;
  return null;
end
$$;

-- At most a thousand and one of the applications that the index finds.
create or replace function private.indexed(query tsquery) returns uuid[]
  -- Where it expects that many fit, the planner would rather compare row after row: costly where they are long.
  language sql stable set search_path = '' set enable_seqscan = off set enable_indexscan = off
as $$
  select array_agg(id) from (
    select id from public.retreat_applications as application where private.words(application, false) @@ query limit 1001
  ) as hit
$$;

-- The query of a search, null where it has no word; and the applications that it finds (`hits`), null where they are many.
-- All words have to match. From three letters on, the start of the last word is enough.
create function private.search(search text, blind boolean, out query tsquery, out hits uuid[])
  language plpgsql stable set search_path = ''
as $$
declare
  words text[] := regexp_split_to_array(btrim(private.folded(left(search, 200))), '\s+');
  stored float := (select reltuples from pg_class where oid = 'public.retreat_applications'::regclass);
begin
  select cast(string_agg(
    '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
      || case when place = cardinality(words) and char_length(lexeme) >= 3 then ':*' else '' end, ' & ') as tsquery)
    into query
    from unnest(words) with ordinality as word (said, place),
      unnest(tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, said))) as lexeme;
  if query is null then return; end if;
  -- The index takes as long as there are hits, however few are wanted. A hundred applications tell how many there will be, or
  -- as many as are not much to look at. They are the first by their ids, which are random, so that nobody chooses them. The planner
  -- knows common words, but not beginnings that are common by many rare words.
  if stored > 20000 and stored * (
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

-- The status and the RSVP of some applications, and whether the same e-mail applied again. One query for all of them, since a call
-- for each would take longer than everything else.
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

-- The form answers that a letter may quote, by their placeholders, in the words that the applicant read; of no application each is
-- null. Organisers who read blind see the answers that `private.answers` shows them, and of the others whether they are blank. Text
-- in an answer that looks like a placeholder of an invitation is changed.
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
    - '{id, created_at, consent}'::text[]) as answers (name, answer), private.answers(application, true) as shown
$$;

-- What organisers did about some applications, for a table: the RSVP, who decided last and when, the notes, and the state of the
-- letters. No address and no text of a letter, so that organisers who read blind may read it.
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
      select letter.application_id as id, jsonb_agg(jsonb_build_object(
        'occasion', occasion, 'way', way, 'state', state, 'otherwise', otherwise,
        'at', coalesce(sent_at, released_at)) order by letter.created_at, letter.id) as letters
      from private.letters as letter
      where letter.application_id = any (applications) and state not in ('draft', 'withdrawn') group by 1
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

-- Up to a thousand whole applications with what organisers did about them, fewer where they are long, and the cursor for the next
-- call. As json, which PostgreSQL builds as text: as jsonb it would copy a megabyte twice.
create or replace function public.desk_export(filter jsonb default '{}', after jsonb default null) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind);
  fitting integer;
begin
  -- Up to 16 MB and the application that exceeds them: no array is longer than 256 MB, and nobody waits that long.
  select count(*) into fitting from (
    select coalesce(sum(
      -- By name, since these lengths are known without reading a long answer.
      octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(phone)
      + octet_length(linkedin) + octet_length(company) + octet_length(custom_solution) + octet_length(reason)
      + (
        select coalesce(sum(octet_length(detail ->> 'note')), 0)
        from private.history where application_id = application.id and kind = 'note'
      )
    ) over (order by place rows between unbounded preceding and 1 preceding), 0) as former
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
  ) as sized where former < 16000000;
  if fitting < cardinality(found.ids) then
    found.ids := found.ids[:fitting];
    select jsonb_build_object('created_at', created_at, 'id', id) into found.next
      from public.retreat_applications where id = found.ids[fitting];
  end if;
  return json_build_object('next', found.next, 'applications', (
    select coalesce(json_agg(private.answers(application, me.blind) || (summary || made) order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      -- Not inner joins, of which PostgreSQL expects one row, and compares each of a thousand with each.
      left join private.summaries(found.ids, me.blind) as summaries on summaries.application_id = id
      left join private.made_of(found.ids) as made_of on made_of.application_id = id
  ));
end
$$;

-- The ids of the applications that pass a filter, in order, and the cursor for the next call, null at the end of the list. A call
-- reads up to `look` candidates, for up to a second. It may find fewer than `most`, or none, before the end of the list.
--
-- All keys of the filter are optional: status, search, team_size, paid_solution, answer (an RSVP state), since, until, and order
-- (`oldest` first; by default the newest).
create or replace function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, out ids uuid[], out next jsonb
)
  -- Most calls end long before `look` candidates. For as many, the planner would sort a table of some thousands, and PostgreSQL
  -- would compile the query.
  language plpgsql stable set search_path = '' set enable_sort = off set jit = off
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  wanted_rsvp text := filter ->> 'answer';
  query tsquery;
  hits uuid[];
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- The list is between these two positions, both exclusive.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  since_id uuid := first_id;
  before timestamptz := coalesce((filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := first_id;
  -- The parts of the query.
  source text := 'public.retreat_applications as application where true';
  position text := 'application.created_at, application.id';
  conditions text[] := array['true'];
  octets text := '0';
  candidates refcursor;
  candidate_at timestamptz;
  candidate_id uuid;
  candidate_octets integer;
  passes boolean;
  last_at timestamptz;
  last_id uuid;
  looked integer := 0;
  -- As much as in two hundred ordinary applications.
  octets_left integer := 60000;
  ends timestamptz := clock_timestamp() + interval '1 second';
begin
  if wanted not in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined') then
    raise exception 'There is no status "%".', left(wanted, 100) using errcode = '22023';
  elsif wanted_rsvp not in ('coming', 'not coming', 'no answer', 'late', 'not told') then
    raise exception 'There is no answer "%".', left(wanted_rsvp, 100) using errcode = '22023';
  elsif wanted_rsvp is not null then
    wanted := coalesce(wanted, 'accepted');
  end if;
  if is_oldest_first then
    since := coalesce((after ->> 'created_at')::timestamptz, since);
    since_id := coalesce((after ->> 'id')::uuid, first_id);
  else
    before := coalesce((after ->> 'created_at')::timestamptz, before);
    before_id := coalesce((after ->> 'id')::uuid, first_id);
  end if;
  ids := '{}';
  if btrim(filter ->> 'search') <> '' then
    select found.query, found.hits into query, hits from private.search(filter ->> 'search', blind) as found;
    -- Signs alone are in no index.
    if query is null then return; end if;
    if hits is null then look := least(look, 200); end if;
  end if;

  if hits is not null then
    -- Sorted all the same: behind the offset no index is in the order of the list.
    source := '(select * from public.retreat_applications where id = any ($6) offset 0) as application where true';
  elsif query is not null then
    source := 'public.retreat_applications as application
      left join private.search_vectors as kept on kept.application_id = id where true';
    conditions := array_append(conditions,
      'coalesce(case when $8 then blind_vector else vector end, private.words(application, $8)) @@ $7');
    -- A stored vector takes as long as a short application.
    octets := 'case when vector is null then private.search_octets(application) else 300 end';
  elsif wanted <> 'new' then
    source := 'private.statuses as decided
      left join public.retreat_applications as application on id = decided.application_id where decided.status = $9';
    position := 'decided.created_at, decided.application_id';
  end if;
  -- These two are subqueries: with joins, the planner would read all statuses before the first row.
  if wanted = 'new' or wanted is not null and query is not null then
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
  -- The text has no value: values are parameters, and it is planned for them and for the LIMIT.
  open candidates for execute format(
    'select %1$s, %2$s, %3$s from %4$s and (%1$s) > ($1, $2) and (%1$s) < ($3, $4) order by 1 %5$s, 2 %5$s limit $5',
    position, octets, array_to_string(conditions, ' and '), source, case when is_oldest_first then 'asc' else 'desc' end
  ) using since, since_id, before, before_id, look + 1, hits, query, blind, wanted,
    case wanted_rsvp when 'no answer' then array['no answer', 'late'] else array[wanted_rsvp] end,
    case when wanted_rsvp is not null then private.today() end,
    filter ->> 'team_size', filter ->> 'paid_solution';
  loop
    fetch candidates into candidate_at, candidate_id, candidate_octets, passes;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      next := jsonb_build_object('created_at', last_at, 'id', last_id);
      exit;
    end if;
    looked := looked + 1;
    octets_left := octets_left - candidate_octets;
    last_at := candidate_at;
    last_id := candidate_id;
    if passes then ids := ids || candidate_id; end if;
  end loop;
  close candidates;
end
$$;

-- The position of an application in a filtered list: its `number`, null where it is not among the first ones; the `count` of the
-- list, up to a thousand, and less where few of the first two thousand candidates pass; and the applications before and after it,
-- also where the application itself no longer passes because it was decided on.
create function private.list_position(application uuid, filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  list record := private.find(filter, null, 1000, 2000, blind);
  number integer := array_position(list.ids, application);
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  here record;
  stopped record;
  before integer := number - 1;
  previous uuid;
  next uuid;
begin
  select created_at, id into here from public.retreat_applications where id = application;
  select (list.next ->> 'created_at')::timestamptz as created_at, (list.next ->> 'id')::uuid as id into stopped;
  if number is null and list.next is not null and (
    case when is_oldest_first then here > stopped else here < stopped end
  ) then
    previous := private.find_one(filter || jsonb_build_object(
      'order', case when is_oldest_first then 'newest' else 'oldest' end), to_jsonb(here), blind);
    next := private.find_one(filter, to_jsonb(here), blind);
  else
    if number is null then
      select count(*) into before from public.retreat_applications as other
        where other.id = any (list.ids) and case
          when is_oldest_first then (other.created_at, other.id) < (here.created_at, here.id)
          else (other.created_at, other.id) > (here.created_at, here.id)
        end;
    end if;
    previous := list.ids[before];
    next := list.ids[coalesce(number, before) + 1];
    if next is null and list.next is not null then
      next := private.find_one(filter, list.next, blind);
    end if;
  end if;
  return jsonb_build_object('number', number, 'count', cardinality(list.ids), 'more', list.next is not null,
    'previous', previous, 'next', next);
end
$$;

revoke all on function private.list_position(uuid, jsonb, boolean) from public, anon, authenticated;

-- The changes of a list that is shown. `shown` are its rows, {id, version}, the first thousand of them. `oldest` is the end of the
-- list, null where it was read to its end. The result has the rows whose status changed, those that are gone, the state of all
-- letters, the RSVPs by their ids, and how many applications pass the filter and are not shown: `newer` than all rows, or between
-- them (`older`). `more`: there may be more of these. `unseen`, their ids, is for desks that were opened before an update.
create or replace function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- Where a list was read to its end, new applications are the newest in either order.
  found record := private.find(
    case when oldest is null then filter - 'order' else filter end, null, 1000, 1000, me.blind);
  last record;
  stopped record;
begin
  if jsonb_array_length(shown) > 1000 then
    raise exception 'At most 1,000 applications are looked at again at once.' using errcode = '22023';
  end if;
  select (oldest ->> 'created_at')::timestamptz as created_at, (oldest ->> 'id')::uuid as id into last;
  select (found.next ->> 'created_at')::timestamptz as created_at, (found.next ->> 'id')::uuid as id into stopped;
  return (
    with of_list as materialized (
      select id, version from jsonb_to_recordset(shown) as of_list (id uuid, version integer)
    ), unseen as materialized (
      select id, created_at from public.retreat_applications
      where id = any (found.ids) and id not in (select id from of_list) and (oldest is null or case
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
        when is_oldest_first then stopped < last else stopped > last end)
    )
  );
end
$$;

-- The count of each status, up to a thousand, and counts of the newest thousand applications that pass the filter: by day in the
-- given time zone, and by the answers of the two choices. `more`: there are more than were counted.
create or replace function public.desk_overview(filter jsonb default '{}', zone text default 'UTC') returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sample record := private.find(filter - 'order', null, 1000, 1000, me.blind);
  in_any_status record := sample;
  statuses constant text[] := array['new', 'shortlisted', 'accepted', 'waitlisted', 'declined'];
  counts jsonb := jsonb_build_object();
  each_status text;
  counted integer;
  decided integer := 0;
  new_ones record;
begin
  if filter - '{status,order}'::text[] <> '{}' then
    if filter ? 'status' then
      in_any_status := private.find(filter - '{status,order}'::text[], null, 1000, 1000, me.blind);
    end if;
    select jsonb_object_agg(name, jsonb_build_object('count', coalesce(count, 0), 'more', in_any_status.next is not null))
      into counts
      from unnest(statuses || 'all'::text) as name left join (
        select coalesce(status, 'new') as name, count(*)
          from unnest(in_any_status.ids) as hit (id) left join private.statuses on application_id = id group by 1
        union all select 'all', cardinality(in_any_status.ids)
      ) as counted using (name);
  else
    foreach each_status in array statuses[2:] loop
      select count(*) into counted
        from (select from private.statuses where status = each_status limit 20001) as of_status;
      decided := decided + counted;
      counts := counts || jsonb_build_object(each_status, private.up_to_thousand(counted));
    end loop;
    select count(*) into counted
      from (select from public.retreat_applications limit decided + 1001) as application;
    counts := counts || jsonb_build_object('all', private.up_to_thousand(counted));
    if decided <= 20000 then
      counts := counts || jsonb_build_object('new', private.up_to_thousand(counted - decided));
    else
      -- Too many to subtract. At least as many are new as among the newest.
      new_ones := private.find('{"status": "new"}', null, 1000, 1000, me.blind);
      counts := counts || jsonb_build_object('new', jsonb_build_object(
        'count', cardinality(new_ones.ids), 'more', new_ones.next is not null));
    end if;
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

-- One application with everything that is known of it. Organisers who read blind see the details of some kinds of events, and of
-- all others only that they happened.
create or replace function private.whole(application uuid, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
begin
  select * into given from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object(
    'application', (
      select private.answers(given, blind) || summary from private.summaries(array[application], blind)
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
        where private.person(email) = private.person(given.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

-- A stamp that changes when anything that is known of an application changes. No text can be guessed from it.
create or replace function private.stamp(application uuid) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return md5(jsonb_build_array(
    (
      select jsonb_build_array(version, answer_state, answer, answered_at, kept_until)
      from private.standings where application_id = application
    ),
    -- It is only ever added to.
    (select count(*) from private.history where application_id = application),
    (
      select jsonb_agg(jsonb_build_array(id, state, version, attempts, due_at, otherwise) order by id)
      from private.letters where application_id = application
    ),
    (
      select jsonb_build_array(state, attempts, due_at) from private.deliveries where id = application
    )
  )::text);
end
$$;

-- One application with everything that is known of it, its letters, the state of all letters, and its position in the list of a
-- filter, if one is given.
create or replace function public.desk_application(application uuid, filter jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.whole(application, me.blind) || jsonb_build_object(
    'letters', private.letters_of(array[application], me.blind),
    'overview', private.letters_overview(),
    'stamp', private.stamp(application),
    'place', case when filter is not null then private.list_position(application, filter, me.blind) end
  );
end
$$;

-- Subject and body for one application. The link to answer and the last day stay placeholders.
create or replace function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean, place jsonb default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(application, blind) || coalesce(place, private.invitation_placeholders(application.id));
  head record := private.fill(subject, answers, 1000);
  rest record := private.fill(body, answers);
  -- A subject is one line, whatever an applicant wrote.
  line text := btrim(regexp_replace(head.filled, '[[:cntrl:][:space:]\u0085\u2028\u2029]+', ' ', 'g'));
begin
  return jsonb_build_object(
    'subject', line, 'body', rest.filled,
    'is_long', head.is_long or rest.is_long,
    'missing', (select to_jsonb(array(select distinct unnest(head.missing || rest.missing) order by 1))),
    'unknown', (select to_jsonb(array(select distinct unnest(head.unknown || rest.unknown) order by 1)))
  );
end
$$;

-- A text filled in for an application, or for the newest one where none is named; null where there is none. Its link answers
-- nothing. `site`: the desk's address, used where no server knows the site's; `has_no_site`: the link is left out.
create or replace function private.example(
  occasion text, subject text, body text, application uuid, blind boolean, site text default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
  known record;
  text jsonb;
begin
  if char_length(subject) > 200 or char_length(body) > 20000 then
    raise exception 'A letter has at most 20,000 characters, and its subject 200.' using errcode = '22023';
  end if;
  if application is null then
    select * into given from public.retreat_applications order by created_at desc, id desc limit 1;
  else
    select * into given from public.retreat_applications where id = application;
  end if;
  if given.id is null then return null; end if;
  if occasion = 'received' then
    text := '{"is_long": false}'
      || private.receipt(subject, body, case when blind then '(hidden)' else given.first_name end);
  else
    text := private.filled(subject, body, given, blind, case when private.may_ask(occasion)
      then jsonb_build_object('answer_link', '{{answer_link}}', 'reply_by', '{{reply_by}}') end);
    select coalesce(nullif(places.site, ''), nullif(example.site, '')) || '/answer/#example' as link,
        private.today() + days as day
      into known from private.places;
    text := text || jsonb_build_object(
      'subject', private.with_invitation(text ->> 'subject', coalesce(known.link, ''), known.day),
      'body', private.with_invitation(text ->> 'body', known.link, known.day),
      'has_no_site', known.link is null and private.has_link(body));
  end if;
  return text || jsonb_build_object('application', given.id, 'name', case when not blind then
    btrim(left(given.first_name, 200) || ' ' || left(given.last_name, 200)) end);
end
$$;

-- The address of letters to an applicant: the one that they gave, or the one by which an organiser replaced it.
create or replace function private.address_of(application uuid, given text) returns text
  language sql stable set search_path = ''
  begin atomic
    select coalesce((select address from private.addresses where application_id = application), given);
  end;

-- Sends a letter that did not arrive to another address, where all letters to this applicant go from then on. It can be
-- stopped, as when it was released.
create or replace function public.desk_readdress(act uuid, letter uuid, address text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  failed private.letters;
  is_repeat boolean;
begin
  if me.blind then
    raise exception 'Who reads blind gives no address.' using errcode = '22023';
  elsif coalesce(char_length(address), 0) > 254
    or coalesce(address, '') !~ '^[^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+$'
  then
    raise exception 'This is not one e-mail address.' using errcode = '22023';
  end if;
  perform private.lock_letters(array[letter]);
  select * into failed from private.letters where id = desk_readdress.letter;
  is_repeat := exists (
    select from private.history as written
    where application_id = failed.application_id and written.act = desk_readdress.act
  );
  if not is_repeat and (
    failed.state is null or failed.state not in ('refused', 'given up') or failed.way <> 'mail'
    or failed.occasion = 'received'
  ) then
    raise exception 'This letter does not wait for another address any more.' using errcode = 'PT409';
  end if;
  perform private.write_down(failed.application_id, act, me.email, 'address',
    jsonb_build_object('address', address, 'occasion', failed.occasion));
  if not is_repeat then
    insert into private.addresses (application_id, address) values (failed.application_id, desk_readdress.address)
      on conflict (application_id) do update set address = excluded.address;
    perform private.move(array[failed.id], 'waiting', due => now() + (select hold from private.letter_settings));
  end if;
  return private.letters_shown(array[failed.id], false) -> 0;
end
$$;

-- Claims deliveries that are due, the longest waiting first, each for one server and for as long as the lease. RSVPs of one
-- person go in their order. What is due later than any wait takes was stored before the clock was set back, and is due.
create function private.claim_delivery(kind text, most integer, lease interval) returns setof private.deliveries
  language plpgsql set search_path = ''
as $$
declare
  -- A day between two tries, some of it at random, and no more.
  longest_wait constant interval := interval '27 hours';
  moments record;
begin
  for moments in
    select '-infinity'::timestamptz as since, now() as until
    union all select now() + longest_wait, 'infinity'
  loop
    return query
      with due as (
        select id from private.deliveries as delivery
        where delivery.kind = claim_delivery.kind and due_at >= moments.since and due_at <= moments.until
          -- As alternatives: alone, the second one would be a join, for which PostgreSQL may read all deliveries.
          and (event_id is null or not exists (
            select from private.deliveries as earlier
            where earlier.application_id = delivery.application_id and earlier.kind = delivery.kind
              and earlier.event_id < delivery.event_id and earlier.state in ('waiting', 'sending')
          ))
        order by due_at limit most for update skip locked
      )
      update private.deliveries as claimed set
          state = 'sending', attempts = attempts + 1, tried_at = now(), due_at = now() + lease
        from due where claimed.id = due.id
        returning claimed.*;
    exit when found;
  end loop;
end
$$;

revoke all on function private.claim_delivery(text, integer, interval) from public, anon, authenticated;

-- Records the result of a claim: `done`, `failed`, or `waiting` for another try after a pause. The try is one of the schedule's
-- where it counts. Without a reply the former one stays. `arrived`: the mail may have arrived; `closed`: the mail server closed
-- the connection. The result is false where another server has claimed it since, or it was cancelled.
create function private.record_delivery(
  delivery uuid, attempt integer, state text, pause interval default '0', counts boolean default true,
  reply_status integer default null, reply text default null, arrived boolean default false, closed boolean default false
) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  recorded private.deliveries;
begin
  update private.deliveries as claimed set
      state = record_delivery.state,
      due_at = case when record_delivery.state = 'waiting' then now() + pause end,
      done_at = case when record_delivery.state = 'done' then now() end,
      attempts = attempts - (not counts)::integer,
      -- What was given back unsent was not tried.
      tried_at = case when counts or attempts > 1 then tried_at end,
      reply_status = case when record_delivery.reply is null then claimed.reply_status else record_delivery.reply_status end,
      reply = coalesce(record_delivery.reply, claimed.reply),
      may_have_arrived = may_have_arrived + arrived::integer,
      closings = closings + closed::integer,
      -- Nothing of a test is kept.
      subject = case when record_delivery.state = 'waiting' then subject end,
      body = case when record_delivery.state = 'waiting' then body end
    where id = delivery and attempts = attempt and claimed.state = 'sending'
    returning * into recorded;
  -- Tried again, an earlier RSVP would be told last.
  if recorded.state = 'done' and recorded.kind = 'rsvp' then
    update private.deliveries as earlier set state = 'cancelled', due_at = null
      where earlier.application_id = recorded.application_id and earlier.kind = 'rsvp'
        and earlier.event_id < recorded.event_id and earlier.state not in ('done', 'cancelled');
  end if;
  return recorded.id is not null;
end
$$;

revoke all on function private.record_delivery(uuid, integer, text, interval, boolean, integer, text, boolean, boolean) from public, anon, authenticated;

-- Makes deliveries of a kind due that failed, from the schedule's beginning, and counts them. No RSVP that a later one supersedes.
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
        and later.event_id > delivery.event_id
        and later.state in ('waiting', 'sending')
    );
  get diagnostics retried = row_count;
  return retried;
end
$$;

revoke all on function private.retry_deliveries(text) from public, anon, authenticated;

-- Tells the organisers who hear of each application, or RSVP; of more than ten an hour the day's mail tells.
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

-- Writes the notices of what an applicant answered by this act. Where that fails, the answer is stored all the same.
create or replace function private.write_answer_notices(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.write_notices(application, id) from private.history
    where application_id = application and history.act = write_answer_notices.act;
exception when others then
  raise log 'An answer was stored without notices (SQLSTATE %).', sqlstate;
end
$$;

-- Whether an organiser had a notice about this application alone, or about this RSVP, or it failed.
create function private.is_told(organiser uuid, application uuid, event bigint) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.deliveries as notice
    where organiser_id = organiser and kind = 'notice' and application_id = application
      and event_id is not distinct from event and due_at is null
  )
$$;

revoke all on function private.is_told(uuid, uuid, bigint) from public, anon, authenticated;

-- Writes the day's mails that are due, for organisers who were not told of all that came since the last.
create function private.write_day_notices() returns void
  language sql set search_path = ''
  begin atomic
    with due as (
      -- What is being stored this moment comes in the next one.
      select account_id, told_until, now() - interval '1 minute' as until from private.organisers
      where notices <> 'off' and day_due_at <= now() for no key update skip locked
    ), told as (
      update private.organisers as organiser set told_until = due.until,
        day_due_at = day_due_at + ceil(extract(epoch from now() - day_due_at) / 86400 + 0.00001) * interval '1 day'
      from due where organiser.account_id = due.account_id
    )
    insert into private.deliveries (kind, organiser_id, since, until)
      select 'notice', account_id, told_until, until from due
      where exists (
        select from public.retreat_applications as application
        where created_at > told_until and created_at <= until and not private.is_told(account_id, application.id, null)
      ) or exists (
        select from private.history as rsvp
        where kind = 'answer' and author = 'applicant' and at > told_until and at <= until
          and not private.is_told(account_id, rsvp.application_id, rsvp.id)
      );
  end;

revoke all on function private.write_day_notices() from public, anon, authenticated;

-- Drops notices and tests that were not sent within a day, and those that are over, and writes the day's mails that are due. Single
-- ones are kept until the day's mail has left out what they told.
create function private.keep_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  -- A time later than it is ever set is from before the clock was set back.
  update private.organisers
    set told_until = least(told_until, now() - interval '1 minute'),
      day_due_at = day_due_at
        - greatest(0, ceil(extract(epoch from day_due_at - now()) / 86400) - 1) * interval '1 day'
    where told_until > now() or day_due_at > now() + interval '1 day';
  update private.deliveries set due_at = now()
    where kind in ('notice', 'test') and due_at > now() + interval '27 hours';
  delete from private.deliveries as notice using private.organisers
    where account_id = organiser_id and kind in ('notice', 'test') and queued_at <= now() - interval '1 day'
      and (kind = 'test' or application_id is null or due_at is not null or queued_at < told_until - interval '1 hour');
  perform private.write_day_notices();
end
$$;

revoke all on function private.keep_notices() from public, anon, authenticated;

-- Claims a notice or a test that is due. Nothing where the day's mail has told what it is about, or will: then it is dropped.
create function private.claim_notice(notice uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  organiser private.organisers;
  told jsonb;
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
  update private.deliveries set state = 'sending', attempts = attempts + 1, tried_at = now(), due_at = now() + lease
    where id = notice returning * into claimed;
  if claimed.kind = 'notice' then
    told := private.told_by(claimed, organiser.blind);
    if claimed.application_id is null and told @> '{"count": 0, "coming": 0, "notComing": 0}' then
      delete from private.deliveries where id = notice;
      return null;
    end if;
  end if;
  return (
    select jsonb_build_object('id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.may_have_arrived,
      'closings', claimed.closings, 'age', extract(epoch from now() - claimed.queued_at) * 1000, 'to', email,
      'says', coalesce(told, jsonb_build_object('subject', claimed.subject, 'body', claimed.body)))
    from auth.users where id = claimed.organiser_id
  );
end
$$;

revoke all on function private.claim_notice(uuid, interval) from public, anon, authenticated;

-- What a notice tells: of one application or RSVP, or how many of a day, with up to fifty plain names of applicants. Applications
-- are counted up to a thousand. Whoever reads blind is told no name.
create function private.told_by(notice private.deliveries, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'application', notice.application_id,
      'answer', (select detail ->> 'answer' from private.history where id = notice.event_id),
      'since', notice.since, 'count', count(*),
      'names', case when blind then '[]' else coalesce(to_jsonb((array_agg(name order by place) filter (where name is not null))[:50]), '[]') end
    )
    from (
      select coalesce(private.plain_name(first_name || ' ' || last_name), private.plain_name(first_name)) as name,
        row_number() over (order by created_at, id) as place
      from public.retreat_applications as application
      where application.id = notice.application_id
        or created_at > notice.since and created_at <= notice.until
          and not private.is_told(notice.organiser_id, application.id, null)
      order by created_at, id limit 1000
    ) as application
  ) || (
    select jsonb_build_object(
      'coming', count(*) filter (where detail ->> 'answer' = 'coming'),
      'notComing', count(*) filter (where detail ->> 'answer' = 'not coming'))
    from private.history as rsvp
    where kind = 'answer' and author = 'applicant' and at > notice.since and at <= notice.until
      and not private.is_told(notice.organiser_id, rsvp.application_id, rsvp.id)
  );
end
$$;

revoke all on function private.told_by(private.deliveries, boolean) from public, anon, authenticated;

-- Sends a text to whoever calls, filled in for an application as it would be for its applicant. The same act again
-- sends nothing more.
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
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  end if;
  perform private.check_site(site);
  text := private.example(occasion, subject, body, application, me.blind, site);
  if text is null then
    raise exception 'There is no application to fill it with yet.' using errcode = '22023';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'Filled in, this letter is longer than a letter may be.' using errcode = '22023';
  end if;
  perform from public.retreat_applications where id = (text ->> 'application')::uuid for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- Whoever calls twice at the same moment is counted one after the other.
  perform from private.organisers where account_id = auth.uid() for no key update;
  if exists (select from private.deliveries where id = act and organiser_id = auth.uid()) then
    return jsonb_build_object('to', me.email);
  elsif (
    select count(*) from private.deliveries
    where organiser_id = auth.uid() and kind = 'test'
      and queued_at > now() - interval '1 hour' and queued_at <= clock_timestamp()
  ) >= 20 then
    raise exception 'At most twenty tests an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (coalesce(act, gen_random_uuid()), 'test', auth.uid(), (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;

-- Whether PostgreSQL knows a time zone by this name. It reads the names of all, which takes some time.
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

-- Invites an accepted person. The names of its triggers come after `redraft`, so that letters are locked before invitations.
create or replace function private.keep_invitation() returns trigger
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

-- Follows the letters. An accepted person who was told so is asked from then on. A person who was told something else gets another
-- link when they are accepted again, without their RSVP. A letter that may have arrived has told them.
create or replace function private.follow_letter() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if not private.is_to_applicant(new) then
    return null;
  elsif private.is_decision(new.occasion) and new.occasion <> 'accepted' then
    update private.invitations
      set token = gen_random_uuid(), told_at = null, deadline = null, is_deadline_set = false, rsvp = null, rsvp_at = null
      where application_id = new.application_id
        and (told_at is not null or deadline is not null or rsvp is not null);
  elsif new.occasion = 'accepted' or private.has_link(new.body) then
    update private.invitations set
        told_at = now(), deadline = coalesce(deadline, private.today() + (select days from private.places))
      where application_id = new.application_id and told_at is null;
  end if;
  if new.occasion = 'reminder' and new.state = 'sent' then
    update private.invitations set reminded_at = new.sent_at where application_id = new.application_id;
  end if;
  return null;
end
$$;

create function private.has_deadline(given text) returns boolean
  language sql immutable set search_path = ''
  return given ~ '\{\{\s*reply_by\s*\}\}';

revoke all on function private.has_deadline(text) from public, anon, authenticated;

-- Whether the deadline of an applicant is over. Until they were told, or an organiser set it, the days count from the handover.
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

-- The link and the deadline in a letter until it is handed over: placeholders, or blank where nobody is asked any more.
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

-- Which of the two placeholders a text has that are blank for an application.
create or replace function private.missing_in(given text, application uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(name order by name), '[]') from jsonb_each_text(private.invitation_placeholders(application)) as invitation (name, words)
  where words = '' and case name when 'reply_by' then private.has_deadline(given) else private.has_link(given) end
$$;

-- Whether a letter has the deadline or the link, and the deadline is over. An automation that is told an acceptance in place of an
-- email is told both, whatever the text is.
create or replace function private.is_overdue(letter private.letters) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return (
      private.has_link(letter.subject || letter.body) or private.has_deadline(letter.subject || letter.body)
      or letter.way = 'automation' and letter.occasion = 'accepted'
    )
    and private.is_to_applicant(letter) and private.is_deadline_over(letter.application_id);
end
$$;

-- A text with the link and the deadline filled in. Where no site is known, the paragraphs with the link are left out.
create function private.with_invitation(given text, link text, deadline date) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  if link is null and private.has_link(given) then
    given := array_to_string(array(
      select paragraph
      from regexp_split_to_table(given, '(?:\r?\n[ \t]*){2,}') with ordinality as parts (paragraph, place)
      where not private.has_link(paragraph) order by place
    ), E'\n\n');
  end if;
  given := regexp_replace(given, '\{\{\s*answer_link\s*\}\}', coalesce(link, ''), 'g');
  return regexp_replace(given, '\{\{\s*reply_by\s*\}\}', private.day_shown(deadline), 'g');
end
$$;

revoke all on function private.with_invitation(text, text, date) from public, anon, authenticated;

-- Invites somebody whose letter is being handed over. The result is their link, null where the site's address is not known, and
-- their deadline. Until they were told, or an organiser set it, the days count from the last handover. The update decides by the
-- row itself: a subquery would decide by the row as it was before the lock.
create function private.invite(application uuid, site text default null, out link text, out deadline date)
  language plpgsql set search_path = ''
as $$
declare
  settings private.places;
  counted date;
begin
  select * into settings from private.places;
  counted := private.today() + settings.days;
  update private.invitations as invitation set deadline = case
      when told_at is null and not is_deadline_set then greatest(invitation.deadline, counted)
      else coalesce(invitation.deadline, counted)
    end
    where application_id = application and is_accepted
    returning coalesce(nullif(settings.site, ''), nullif(invite.site, '')) || '/answer/#' || token, invitation.deadline
    into link, deadline;
end
$$;

revoke all on function private.invite(uuid, text) from public, anon, authenticated;

-- Subject and body of a letter as it is handed over, and the link in it.
create or replace function private.to_send(
  application uuid, inout subject text, inout body text, site text default null, out link text
)
  language plpgsql set search_path = ''
as $$
declare
  invitation record;
begin
  if private.has_link(subject || body) or private.has_deadline(subject || body) then
    invitation := private.invite(application, site);
    link := invitation.link;
    subject := private.with_invitation(subject, coalesce(invitation.link, ''), invitation.deadline);
    body := private.with_invitation(body, invitation.link, invitation.deadline);
  end if;
end
$$;

-- Sets an RSVP, null for none, once for each act. The caller has locked the application. The last one counts, and the history has
-- all. A person with an RSVP gets no more reminders.
create function private.set_rsvp(application uuid, act uuid, author text, rsvp text) returns void
  language plpgsql set search_path = ''
as $$
declare
  is_repeat boolean := exists (
    select from private.history where application_id = application and history.act = set_rsvp.act
  );
begin
  if not is_repeat and exists (
    select from private.invitations as invitation
    where application_id = application and invitation.rsvp is not distinct from set_rsvp.rsvp
  ) then
    return;
  end if;
  perform private.write_down(application, act, author, 'answer', jsonb_build_object('answer', rsvp));
  if is_repeat then return; end if;
  if rsvp is not null then
    -- First of all: a server takes letters, and gives them back, without a lock on the application.
    perform from private.letters
      where application_id = application and occasion = 'reminder' and state not in ('sent', 'withdrawn')
      order by id for update;
    -- Also those that did not arrive, which somebody might try again.
    perform private.move(array(
      select id from private.letters
      where application_id = application and occasion = 'reminder' and state not in ('sending', 'sent', 'withdrawn')
    ), 'withdrawn');
    -- What a server is handing over is marked: it may arrive, but is not tried again.
    update private.letters set withdrawn_at = now()
      where application_id = application and occasion = 'reminder' and state = 'sending';
  end if;
  update private.invitations as invitation
    set rsvp = set_rsvp.rsvp, rsvp_at = case when set_rsvp.rsvp is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_answer_notices(application, act);
  end if;
end
$$;

revoke all on function private.set_rsvp(uuid, uuid, text, text) from public, anon, authenticated;

-- The application of a link's token; null where there is none, or the acceptance was taken back.
create function private.application_of_token(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application_id from private.invitations as invitation
  where is_accepted and invitation.token
    = case when application_of_token.token ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then application_of_token.token::uuid end
$$;

revoke all on function private.application_of_token(text) from public, anon, authenticated;

-- An invitation as its page shows it: {"state": "open", "first_name", "until", "answer"}; after the deadline
-- {"state": "over", ..., "address": the reply address}; and for a link that is not valid, or not any more, {"state": "invalid"}.
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
      'first_name', left(btrim(first_name, E' \t\r\n'), 200), 'until', until, 'answer', rsvp
    ) || case when until < private.today() then jsonb_build_object(
      'address', coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender)) else '{}' end
    from private.invitations as invitation
      join public.retreat_applications as given on given.id = application_id
      cross join private.places
      cross join lateral (select coalesce(deadline, private.today() + places.days) as until) as counted
    where application_id = application
  );
end
$$;

-- Stores an RSVP that came by the link: `coming`, or `not coming`. The same act again stores nothing more. The result is the
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
  -- As it stands now that nobody decides meanwhile.
  if private.application_of_token(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif public.place_by_token(token) ->> 'state' = 'open' then
    if (
      select count(*) from private.history
      where application_id = application and kind = 'answer' and author = 'applicant'
        and at > now() - interval '1 hour' and at <= clock_timestamp()
    ) >= 20 then
      raise exception 'This answer was changed too often. Please try again in an hour.' using errcode = 'PT429';
    end if;
    perform private.set_rsvp(application, act, 'applicant', answer);
  end if;
  return public.place_by_token(token);
end
$$;

-- Who comes, how many places are left, and who waits for one: {version, places, days, zone, is_zone_set, site, today, coming,
-- not_coming, no_answer, late, not_told, free, waitlist}. `late` is a part of `no_answer`. `free` is null where nobody said how
-- many places there are, and negative where more people were accepted. `zone` is `UTC` until one is set. The argument is that of
-- older desks, and is ignored.
create or replace function public.desk_places(zone text default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  -- Once, and not for each of them.
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
      'waitlist', (
        select coalesce(jsonb_agg(
          jsonb_build_object('set_at', set_at) || private.beginnings(private.answers(application, me.blind) || summary)
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

-- Sets how many places there are, null for not known; how many days people have to answer; and the time zone of deadlines, which
-- stays as it is where it is null.
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
    raise exception 'A place is kept for 1 to 365 days.' using errcode = '22023';
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

-- Locks an application, and refuses unless it is accepted.
create function private.lock_invitation(application uuid) returns void
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
    raise exception 'This application is not accepted any more.' using errcode = 'PT409';
  end if;
end
$$;

revoke all on function private.lock_invitation(uuid) from public, anon, authenticated;

-- Notes an RSVP that did not come by the page: `coming`, `not coming`, or null for no answer.
create or replace function public.desk_set_answer(act uuid, application uuid, answer text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming", "not coming" or none, and has an id.' using errcode = '22023';
  end if;
  perform private.lock_invitation(application);
  perform private.set_rsvp(application, act, me.email, answer);
  return private.whole(application, me.blind);
end
$$;

-- Moves the deadline of somebody.
create or replace function public.desk_keep_until(act uuid, application uuid, until date) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_repeat boolean;
begin
  if act is null or until is null or until < private.today() or until > '9999-12-31' then
    raise exception 'A place is kept until today or a later day.' using errcode = '22023';
  end if;
  perform private.lock_invitation(application);
  is_repeat := exists (
    select from private.history where application_id = application and history.act = desk_keep_until.act
  );
  perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
  -- Not again, over what somebody set since.
  if not is_repeat then
    update private.invitations set deadline = until, is_deadline_set = true where application_id = application;
  end if;
  return private.whole(application, me.blind);
end
$$;

-- The people to remind, those with the first deadline first, at most a thousand and one; how many have a reminder that was not sent
-- yet, and how many had one in the last three days.
create or replace function private.to_remind(today date, out wanted uuid[], out waiting bigint, out reminded bigint)
  language plpgsql stable
  -- PostgreSQL knows nothing of many that were just drafted, and would compare each with each.
  set search_path = '' set enable_nestloop = off
as $$
begin
  with unsent as materialized (
    -- Each part has an index: no letter is read that was sent.
    select application_id from private.letters where occasion = 'reminder' and state = 'draft'
    union select application_id from private.letters where occasion = 'reminder' and state in ('waiting', 'sending')
    union select application_id from private.letters where occasion = 'reminder' and state in ('refused', 'given up')
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

-- Drafts reminders for people who have not answered, those with the first deadline first, at most a thousand at once. Nobody is
-- reminded twice in three days. {drafted, late: those of them whose deadline has to be moved first, waiting: people with a reminder
-- that was not sent yet, reminded: people who had one in the last three days, more}.
create or replace function public.desk_remind() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  today constant date := private.today();
  found record;
  drafted uuid[] := array[]::uuid[];
  application uuid;
begin
  perform private.caller();
  perform from private.templates where occasion = 'reminder' for key share;
  found := private.to_remind(today);
  perform private.lock_for_letters(found.wanted[:1000]);
  for application in
    select application_id from private.invitations
    where application_id = any (found.wanted[:1000])
      and private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) in ('no answer', 'late')
    order by application_id
  loop
    if private.draft(application, 'reminder', true) is not null then drafted := drafted || application; end if;
  end loop;
  return jsonb_build_object(
    'drafted', cardinality(drafted),
    'late', (
      select count(*) from private.invitations
      where application_id = any (drafted) and deadline < today
    ),
    'waiting', found.waiting, 'reminded', found.reminded, 'more', cardinality(found.wanted) > 1000
  );
end
$$;

-- Whether somebody was sent a reminder lately.
create or replace function private.is_reminded(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.invitations where application_id = application and private.is_reminder_recent(reminded_at)
  )
$$;

-- A draft for an organiser's own mail program, with the applicant's link. The history records that the link was given. Where no
-- server knows the site's address, the desk gives it; older desks give the time zone, too. A letter with a deadline waits until a
-- time zone is set. The same act again gives the same.
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
    raise exception 'Who reads blind sends no letter by hand.' using errcode = '22023';
  end if;
  perform private.check_site(site);
  perform private.lock_letters(array[letter]);
  select * into draft from private.letters where id = desk_hand_over.letter;
  text := case when draft.id is not null then private.letter_text(draft, false) end;
  if draft.state is distinct from 'draft' or text ->> 'seen' is distinct from seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif text -> 'missing' <> '[]' then
    raise exception 'This letter quotes what is blank.' using errcode = '22023';
  end if;
  if zone is not null then perform private.adopt_zone(zone); end if;
  if (private.has_link(text ->> 'body') or private.has_deadline((text ->> 'subject') || (text ->> 'body')))
    and exists (select from private.places where places.zone is null)
  then
    raise exception 'This letter has a deadline: first save the time zone under Places.' using errcode = '22023';
  end if;
  if private.has_link(text ->> 'body') then
    perform private.write_down(draft.application_id, act, me.email, 'link', jsonb_build_object('occasion', draft.occasion));
  end if;
  sent := private.to_send(draft.application_id, text ->> 'subject', text ->> 'body', site);
  return jsonb_build_object('subject', sent.subject, 'body', sent.body);
end
$$;

-- How long all mails wait after so many failures in a row of the mail server.
create function private.mail_back_off(failures integer) returns interval
  language sql immutable
  return (array[5, 15, 60, 300, 600])[greatest(1, least(failures, 5))] * interval '1 second';

revoke all on function private.mail_back_off(integer) from public, anon, authenticated;

-- Whether a mail may leave now. A time further ahead than it is ever set is from before the clock was set back, and delays nothing.
create function private.may_leave(postman private.postman, pace interval) returns boolean
  language sql stable
  return not postman.stopped
    and (postman.paused_until <= now()
      or postman.paused_until > clock_timestamp() + private.mail_back_off(postman.failures))
    and (pace is null or postman.next_at <= now() or postman.next_at > clock_timestamp() + pace);

revoke all on function private.may_leave(private.postman, interval) from public, anon, authenticated;

-- Whether the hour has room for a receipt or a notice: all servers together begin a hundred.
create function private.has_room(postman private.postman) returns boolean
  language sql stable
  return postman.in_hour < 100 or postman.hour_began_at not between now() - interval '1 hour' and clock_timestamp();

revoke all on function private.has_room(private.postman) from public, anon, authenticated;

-- Whether another letter is under way to the same person: letters have to arrive in the order in which they were released.
create function private.is_busy(letter private.letters) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  recipient text := (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = letter.application_id
  );
begin
  return exists (
    select from private.letters as other join public.retreat_applications as theirs on theirs.id = other.application_id
    where other.state = 'sending' and other.way = 'mail' and other.due_at > now() and other.id <> letter.id
      and (other.application_id = letter.application_id
        or private.person(private.address_of(theirs.id, theirs.email)) = recipient)
  );
end
$$;

revoke all on function private.is_busy(private.letters) from public, anon, authenticated;

-- Whether a letter was released for the decision that stands.
create function private.is_current(letter private.letters) returns boolean
  language sql stable set search_path = ''
as $$
  select letter.status_version = coalesce(
    (select version from private.statuses where application_id = letter.application_id), 0)
$$;

revoke all on function private.is_current(private.letters) from public, anon, authenticated;

-- The mail that is due and waits longest: its kind and its id; nothing where none is due. It is locked, and what somebody else has
-- locked is passed over. First tests, for which somebody waits, then letters, then mails that leave automatically: organisers'
-- before receipts, since there may be as many receipts as applications. Letters that were withdrawn on their way come too, to
-- end there. Each kind has an index of what is due: no other table is joined, since PostgreSQL would read everything that is
-- due to find the first.
create function private.due_mail(kinds text[], has_room boolean, out kind text, out id uuid)
  language plpgsql set search_path = ''
as $$
begin
  if 'test' = any (kinds) then
    select 'test', test.id into kind, id from private.deliveries as test
      where test.kind = 'test' and due_at <= now() and queued_at > now() - interval '1 day'
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'letter' = any (kinds) then
    select 'letter', letter.id into kind, id from private.letters as letter
      where way = 'mail' and occasion <> 'received' and due_at <= now()
        and (withdrawn_at is not null or private.is_current(letter) and not private.is_busy(letter))
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'notice' = any (kinds) and has_room then
    select 'notice', notice.id into kind, id from private.deliveries as notice
      where notice.kind = 'notice' and due_at <= now() and queued_at > now() - interval '1 day'
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'receipt' = any (kinds) then
    select 'receipt', letter.id into kind, id from private.letters as letter
      where way = 'mail' and occasion = 'received' and due_at <= now()
        and (withdrawn_at is not null
          or has_room and released_at > private.receipts_since() and not private.is_busy(letter))
      order by due_at limit 1 for update skip locked;
  end if;
end
$$;

revoke all on function private.due_mail(text[], boolean) from public, anon, authenticated;

-- Claims the mail that is due and waits longest, for one server and for as long as the lease; null where none is due or may leave.
-- The postman's row is locked before anything is claimed, and what is due is looked at again then: who had it before may have
-- claimed a letter to the same person. It is the last of all locks. `pace`: the time between two mails, null for none.
create function private.claim_mail(pace interval, kinds text[] default '{test,letter,notice,receipt}') returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  -- Longer than any handover takes.
  lease constant interval := interval '90 seconds';
  -- By which a mail may be late without delaying the mails after it.
  slack constant interval := interval '200 milliseconds';
  postman private.postman;
  due record;
  mail jsonb;
begin
  -- A server is about to change the schema, and waits for the mails that were claimed before.
  if not pg_try_advisory_xact_lock_shared(5610748) then return null; end if;
  select * into postman from private.postman;
  -- Where nothing may leave, or nothing is due, nothing is written.
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
        select due.kind in ('notice', 'receipt') and not coalesce((mail ->> 'is_withdrawn')::boolean, false) as counts,
          row.hour_began_at not between now() - interval '1 hour' and clock_timestamp() as is_new
      ) as hour
    )
    where not coalesce((mail ->> 'is_withdrawn')::boolean, false);
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

revoke all on function private.claim_mail(interval, text[]) from public, anon, authenticated;

-- Claims a letter or a receipt that is due. One that was withdrawn on its way is claimed to end there, and has no text.
create function private.claim_letter(letter uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  was_sending boolean := (select state = 'sending' from private.letters where id = letter);
  claimed private.letters := private.move(array[letter], 'sending', due => now() + lease);
  is_withdrawn boolean := claimed.withdrawn_at is not null;
  sent record;
begin
  if not is_withdrawn then
    sent := private.to_send(claimed.application_id, claimed.subject, claimed.body);
  end if;
  return (
    select jsonb_build_object(
      'id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.uncertain, 'closings', claimed.closings,
      'applicationId', application.id,
      'age', extract(epoch from now() - claimed.released_at) * 1000,
      'to', private.address_of(application.id, application.email),
      'subject', case when not is_withdrawn then sent.subject end, 'body', case when not is_withdrawn then sent.body end,
      'link', case when not is_withdrawn then sent.link end, 'replyTo', reply_to,
      'is_withdrawn', is_withdrawn, 'is_overdue', private.is_overdue(claimed), 'was_sending', was_sending
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;

revoke all on function private.claim_letter(uuid, interval) from public, anon, authenticated;

drop function private.search_query(text);

drop function private.has_answer(uuid, text, date);

drop function private.search_octets(text, text, text, text, text, text, text);

drop function private.search_vectors_of(retreat_applications);

drop function private.hits(tsquery, boolean);

drop function private.place(uuid, jsonb, boolean);

drop function private.accepted_by(text);

drop function private.detail_shown(text, jsonb, boolean);

drop function private.answer_state(boolean, timestamp with time zone, date, text, date);

drop function private.has_day(text);

drop function private.with_place(text, text, date);

drop function private.lock_acceptance(uuid);

drop function private.place_answers(uuid);

drop function private.no_answer();

drop function private.answer_shown(uuid);

drop function private.set_answer(uuid, uuid, text, text);

drop function private.counts(jsonb, boolean);

drop function private.keep_place(uuid, text);

drop function private.is_day_over(uuid);
