-- Guests are people who are coming. Calendars know the days of the retreat and its venue, and guests may be sent a confirmation
-- (docs/decisions/0070). Guests are asked questions, and private answers are erased after the retreat (docs/decisions/0036).

alter table private.editions
  add column starts_on date,
  add column ends_on date constraint editions_days
    check ((starts_on is null) = (ends_on is null) and starts_on between '2000-01-01' and ends_on and ends_on < '3000-01-01'),
  add column venue text not null default '' constraint editions_venue
    check (char_length(venue) <= 200 and venue !~ '[[:cntrl:]]'),
  add column calendar_sequence integer not null default 0,
  add column questions_version integer not null default 0,
  add column questions_until date,
  add column private_days integer constraint editions_private_days check (private_days between 1 and 365),
  add column since timestamptz not null default '-infinity',
  add column before timestamptz not null default 'infinity',
  add column places integer;

create or replace view private.standings as
  select application.id as application_id, private.person(application.email) as person,
    coalesce(decided.status, 'new') as status, coalesce(decided.version, 0) as version,
    private.rsvp_state(coalesce(is_accepted, false), told_at, deadline, rsvp, (select private.today())) as answer_state,
    rsvp as answer, rsvp_at as answered_at, deadline as kept_until, application.edition
  from public.retreat_applications as application
    left join private.statuses as decided on decided.application_id = application.id
    left join private.invitations as invitation on invitation.application_id = application.id and is_accepted;

create table private.questions (
  id uuid primary key default gen_random_uuid(),
  edition integer not null references private.editions (id),
  position integer not null,
  kind text not null check (kind in ('short', 'long', 'choice', 'yes-no')),
  text text not null check (text <> '' and char_length(text) <= 200),
  choices text[] not null default '{}',
  is_required boolean not null,
  is_private boolean not null
);
alter table private.questions enable row level security;

create table private.question_answers (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  question_id uuid not null references private.questions (id) on delete cascade,
  answer text not null check (answer <> '' and char_length(answer) <= 2000),
  answered_at timestamptz not null default now(),
  primary key (application_id, question_id)
);
create index question_answers_question on private.question_answers (question_id);
alter table private.question_answers enable row level security;

alter table private.history drop constraint history_kind_check,
  add constraint history_kind_check check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address',
    'told', 'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention')) not valid;

create table private.announcements (
  edition integer not null references private.editions (id) on delete cascade,
  subject text not null check (subject in ('applications', 'answers')),
  days integer not null,
  announced_on date not null,
  until date not null,
  erased integer not null default 0,
  primary key (edition, subject)
);
alter table private.announcements enable row level security;

create table private.retention (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  months integer constraint retention_months check (months between 1 and 120),
  months_for_guests integer constraint retention_months_for_guests check (months_for_guests between 1 and 120)
);
insert into private.retention default values;
alter table private.retention enable row level security;

create table private.holds (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  reason text not null check (reason <> '' and char_length(reason) <= 500),
  held_by text not null,
  held_at timestamptz not null default now()
);
alter table private.holds enable row level security;

alter table private.letter_settings add column confirmations boolean not null default false;

alter table private.templates drop constraint templates_kind_check,
  add constraint templates_kind_check check (kind in ('receipt', 'decision', 'reminder', 'confirmation', 'other')) not valid;

-- After the foreign key, for which inserts wait: they lock applications first, and then read the door.
alter table private.door add column repeats_until timestamptz,
  add column edition_since timestamptz not null default '-infinity';

-- What goes where. A restore of an older backup runs this statement, too. Organisers may have templates of these names, whose
-- texts are kept.
insert into private.templates (name, kind, subject, body) values
  ('confirmed', 'confirmation', 'See you at Unplugged', 'Hello {{first_name}},

Thank you for telling us that you are coming to Unplugged. Your place is confirmed, and we look forward to meeting you.

If your plans change, please tell us here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.'),
  ('questions', 'reminder', 'A few questions before Unplugged', 'Hello {{first_name}},

We look forward to meeting you at Unplugged. So that we can prepare it, please answer a few questions.

You can do so here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.')
on conflict (name) do update set kind = excluded.kind;
-- So far what goes where.

-- The functions that changed. `npm run schema` writes what follows: edit the declared schema instead.
-- The digest of the eleven form answers, as the index has it. It sets no search path, so that PostgreSQL can inline it.
create function private.answers_digest(application public.retreat_applications) returns text
  language sql immutable parallel safe
as $$
  select md5(
    md5(application.first_name) || md5(application.last_name) || md5(application.email) || md5(application.phone)
    || md5(application.linkedin) || md5(application.company) || md5(application.paid_solution)
    || md5(application.custom_solution) || md5(application.team_size) || md5(application.reason)
    || case when application.consent then 't' else 'f' end
  )
$$;

revoke all on function private.answers_digest(retreat_applications) from public, anon, authenticated;

create or replace function public.desk_set_reads_only(reads_only boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_reads_only.reads_only is null then
    raise exception '“reads_only” has to be true or false.' using errcode = '22023';
  end if;
  update private.organisers set reads_only = desk_set_reads_only.reads_only where account_id = me.id;
  return public.desk_blind();
end
$$;

create or replace function private.keep_search_vectors() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  answers tsvector;
begin
  -- An application that an update makes short keeps its row, with new vectors.
  if tg_op = 'INSERT' and private.search_octets(new) <= 2000 then return null; end if;
  -- Folds the long answers only once, for both vectors.
  answers := private.words(new, true);
  insert into private.search_vectors values (new.id, strip(answers || private.search_vector(
      new.first_name, new.last_name, new.email, new.linkedin, new.company, '', '')), strip(answers))
    on conflict (application_id) do update set vector = excluded.vector, blind_vector = excluded.blind_vector;
  return null;
end
$$;

-- Parses a search into `query`, null if it has no word. `hits` are the ids of the applications found, null if there are more than
-- 1,000. All words have to match. From three letters on, the start of the last word is enough.
create or replace function private.search(search text, blind boolean, out query tsquery, out hits uuid[])
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

drop function private.begin_act(uuid, text, text[]);

-- Begins an act. Returns false for a retry, after waiting for the first call to finish. Refuses an id that was used with
-- another call, other arguments or another account.
create function private.begin_act(act uuid, call text, variadic arguments text[]) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  if act is null then
    raise exception 'The act needs an id.' using errcode = '22023';
  end if;
  insert into private.acts (act, account_id, call, given)
    values (begin_act.act, auth.uid(), begin_act.call, md5(begin_act.arguments::text)) on conflict do nothing;
  if found then
    delete from private.acts where acts.act = any (array(
      select expired.act from private.acts as expired where at < now() - interval '1 day' limit 1000 for update skip locked
    ));
    return true;
  end if;
  perform from private.acts
    where acts.act = begin_act.act and acts.call = begin_act.call and acts.given = md5(begin_act.arguments::text)
      and account_id is not distinct from auth.uid();
  if not found then
    raise exception 'This id was used for another act: nothing was saved.' using errcode = 'PT409';
  end if;
  return false;
end
$$;

revoke all on function private.begin_act(uuid, text, text[]) from public, anon, authenticated;

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
  -- An organiser may open an applicant's link. The request then has the organiser's account.
  insert into private.history (application_id, act, author, author_id, kind, detail) values (
    application, write_down.act, write_down.author, case when write_down.author <> 'applicant' then auth.uid() end,
    write_down.kind, write_down.detail
  ) on conflict do nothing;
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
        'id', id, 'at', at, 'author', author, 'kind', kind, 'detail', detail) order by id desc), '[]'),
      'next', case when count(*) = 50 then jsonb_build_object('id', min(id)) end)
    from (
      select * from private.history where application_id is null and id < before_id order by id desc limit 50
    ) as page
  );
end
$$;

-- Gives the caller's mark of an application, changes it, or takes it back (`mark` null). Returns the marks that the caller sees
-- afterwards.
create or replace function public.desk_mark(act uuid, application uuid, mark text, why text default '') returns jsonb
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
    -- Serialises concurrent marks of an application, so that each takes the others into account.
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
        -- A change of the line alone does not make the mark less independent.
        is_after_seeing = case when marks.mark is not distinct from desk_mark.mark then is_after_seeing else has_seen or exists (
          select from private.marks as shown
          where shown.application_id = application and shown.account_id <> me.id and shown.was_shown
        ) end,
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

-- The status and the RSVP of some applications, whether the same email applied again to the same retreat, and whether it applied
-- to an earlier one. Blind readers do not learn about the same email. One query for all applications, since a query for each
-- would be too slow.
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
          and other.edition = standing.edition
      ), 'applied_before', not blind and standing.edition > 1 and exists (
        select from public.retreat_applications as other
        where private.person(other.email) = standing.person and other.edition < standing.edition
      ))
    from unnest(applications) as one (id) join private.standings as standing on standing.application_id = one.id;
end
$$;

-- The organisers' work on some applications, for the exported table: when and by whom the status was last changed, the notes, and
-- the state of the letters. It also has the RSVP, and the answers to questions that are not private. It has no address and no
-- text of a letter, so that organisers who read blind may read it.
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
    ), guests as (
      select given.application_id as id,
        jsonb_agg(jsonb_build_object('question', asked.text, 'answer', given.answer) order by asked.position) as questions
      from private.question_answers as given join private.questions as asked on asked.id = question_id
      where given.application_id = any (applications) and not is_private group by 1
    )
    select each_one, jsonb_build_object(
      'answer', answer, 'answered_at', answered_at, 'questions', coalesce(questions, '[]'),
      'decided_by', author, 'decided_at', decided_at,
      'notes', coalesce(notes, '[]'), 'letters', coalesce(letters, '[]'))
    from unnest(applications) as each_one
      left join happened on happened.id = each_one
      left join written on written.id = each_one
      left join guests on guests.id = each_one
      left join private.standings as standing on standing.application_id = each_one;
end
$$;

-- The edition that a filter names, otherwise the newest, and the times between which its applications were stored. `is_only`: there
-- is no other edition.
create function private.edition_in(
  filter jsonb, out id integer, out since timestamptz, out before timestamptz, out is_only boolean
)
  language plpgsql stable set search_path = ''
as $$
begin
  select editions.id, editions.since, editions.before,
      not exists (select from private.editions as other where other.id <> editions.id)
    into edition_in.id, edition_in.since, edition_in.before, is_only
    from private.editions
    where editions.id = coalesce((filter ->> 'edition')::integer, (select max(editions.id) from private.editions));
  if not found then
    raise exception 'There is no such retreat.' using errcode = '22023';
  end if;
end
$$;

revoke all on function private.edition_in(jsonb) from public, anon, authenticated;

-- The edition of an application; null if it was erased.
create function private.edition_of(application uuid) returns integer
  language sql stable set search_path = ''
as $$
  select edition from public.retreat_applications where id = application
$$;

revoke all on function private.edition_of(uuid) from public, anon, authenticated;

-- Whether an application is of an edition. `is_only`: there is no other edition. The function sets no search path, so that
-- PostgreSQL can inline it.
create function private.is_of(application uuid, edition integer, is_only boolean) returns boolean
  language sql stable
as $$
  select is_only or private.edition_of(application) = edition
$$;

revoke all on function private.is_of(uuid, integer, boolean) from public, anon, authenticated;

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
  edition record := private.edition_in(filter);
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
  -- Includes the blanks of Unicode. `translate` takes half the time of a regular expression.
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

-- The changes of a list that is shown. `shown` has its rows, {id, version}, at most the first thousand. `oldest` is the position
-- of the last row, whatever the order, and null if the list was read to its end. The result has the changed statuses, the ids of
-- erased applications, the state of all letters, and the RSVPs by id. It also counts the applications that pass the filter and
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

-- The number of applications of an edition that have a status, at most `most`. Most are counted by their time alone. Only where
-- the times of two editions overlap, the application itself is read.
create function private.count_with_status(status text, edition integer, most integer) returns integer
  language plpgsql stable set search_path = ''
as $$
declare
  shown private.editions;
  alone_from timestamptz;
  alone_until timestamptz;
begin
  select * into shown from private.editions where id = count_with_status.edition;
  select coalesce(max(before) filter (where id < shown.id), '-infinity'), coalesce(min(since) filter (where id > shown.id), 'infinity')
    into alone_from, alone_until from private.editions;
  return (
    select count(*) from (
      select from private.statuses as decided
      where decided.status = count_with_status.status and created_at >= shown.since and created_at < shown.before
        and (created_at >= alone_from and created_at < alone_until or private.edition_of(application_id) = shown.id)
      limit most
    ) as having_it
  );
end
$$;

revoke all on function private.count_with_status(text, integer, integer) from public, anon, authenticated;

-- The count of each status, up to a thousand. The newest thousand applications that pass the filter are also counted by day in
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
  edition record := private.edition_in(filter);
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
      counted := private.count_with_status(each_status, edition.id, 20001);
      decided := decided + counted;
      -- The last status is `aside`. `all` does not include it.
      aside_count := counted;
      counts := counts || jsonb_build_object(each_status, private.up_to_thousand(counted));
    end loop;
    if edition.is_only then
      select count(*) into counted
        from (select from public.retreat_applications limit decided + 1001) as application;
    else
      select count(*) into counted from (
        select from public.retreat_applications as application
        where created_at >= edition.since and created_at < edition.before and application.edition = edition.id
        limit decided + 1001
      ) as application;
    end if;
    counts := counts || jsonb_build_object('all', private.up_to_thousand(counted - aside_count));
    if decided <= 20000 then
      counts := counts || jsonb_build_object('new', private.up_to_thousand(counted - decided));
    else
      -- There are too many decisions to count. So new applications are searched: at least this many are new.
      new_ones := private.find(
        jsonb_build_object('status', 'new', 'edition', edition.id), null, 1000, 1000, blind, account);
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
      'counts', counts, 'editions', private.editions_shown(),
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
      select private.form_answers(application_row, blind) || summary from private.summaries(array[application], blind)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind,
        'detail', case
          when not blind or kind in ('status', 'note', 'revealed', 'told', 'answer', 'questions', 'kept', 'link') then detail
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
    (select jsonb_agg(to_jsonb(given) order by question_id) from private.question_answers as given where application_id = application),
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
  if door.repeats_until > now() then
    perform from public.retreat_applications as former
      where edition = new.edition - 1 and private.answers_digest(former) = private.answers_digest(new);
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

-- The state of the door at this moment. An automatic closing counts as a change. Otherwise an organiser who still sees an
-- open door could reopen it by mistake. An infinite time, which earlier versions could store, is not shown: that door never
-- closes, or is closed.
create or replace function private.door_state() returns jsonb
  language sql stable set search_path = ''
as $$
  select to_jsonb(door) - '{is_only,repeats_until,edition_since}'::text[] || jsonb_build_object(
    'closes_at', case when closes_at between '0001-01-01 00:00+00' and '9999-12-31 23:59:59+00' then closes_at end,
    'opened_at', nullif(opened_at, '-infinity'), 'is_open', is_open, 'version', version + (not is_open and not closed)::integer
  )
  from private.door, lateral (
    select not (closed or coalesce(clock_timestamp() >= closes_at, false) or coalesce(received >= closes_after, false)) as is_open
  ) as state
$$;

drop function private.fill(text, jsonb, integer);

-- Fills in the placeholders of a text in one pass, so that an applicant's words are never read as a placeholder. It reports
-- placeholders whose value is blank (`missing`), which stay in the text, and placeholders that do not exist (`unknown`), including
-- stray braces. A text of more than `most` characters is cut and reported as too long (`is_long`): a template may quote a long
-- answer many times.
create function private.fill(
  template_text text, placeholder_values jsonb, most integer default 20000,
  out filled text, out missing text[], out unknown text[], out is_long boolean
)
  language plpgsql immutable set search_path = ''
as $$
declare
  parts text[] := regexp_split_to_array(template_text, '\{\{[^{}]*\}\}');
  names text[] := array(
    select btrim(match[1]) from regexp_matches(template_text, '\{\{([^{}]*)\}\}', 'g') with ordinality as each_one (match, position)
    order by position
  );
begin
  filled := parts[1];
  missing := '{}';
  unknown := case
    when template_text ~ '\{\{\{|\}\}\}' or array_to_string(parts, ' ') ~ '\{\{|\}\}' then array['{{'] else '{}'
  end;
  for position in 1 .. cardinality(names) loop
    if not placeholder_values ? names[position] then
      unknown := unknown || left(names[position], 100);
    elsif placeholder_values ->> names[position] = '' then
      missing := missing || names[position];
    end if;
    -- Append nothing to a text that is cut anyway.
    if char_length(filled) <= most then
      filled := filled || coalesce(
        case placeholder_values ->> names[position]
          when '' then '{{' || names[position] || '}}' else placeholder_values ->> names[position] end, ''
      ) || parts[position + 1];
    end if;
  end loop;
  is_long := char_length(filled) > most;
  filled := left(filled, most);
  missing := array(select distinct name from unnest(missing) as name order by name);
  unknown := array(select distinct name from unnest(unknown) as name order by name);
end
$$;

revoke all on function private.fill(text, jsonb, integer) from public, anon, authenticated;

drop function private.filled(text, text, retreat_applications, boolean, jsonb);

-- Subject and body filled in for one application, and what `private.fill` reports about them. The RSVP link and the deadline stay
-- placeholders.
create function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean, invitation_values jsonb default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  placeholder_values jsonb := private.placeholders(application, blind)
    || coalesce(invitation_values, private.invitation_placeholders(application.id));
  filled_subject record := private.fill(subject, placeholder_values, 1000);
  filled_body record := private.fill(body, placeholder_values);
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

revoke all on function private.filled(text, text, retreat_applications, boolean, jsonb) from public, anon, authenticated;

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
    btrim(left(application_row.first_name, 200) || ' ' || left(application_row.last_name, 200)) end);
end
$$;

-- The templates of the product, with the texts that a new database has.
create function private.first_templates() returns table (name text, kind text, subject text, body text)
  language sql immutable set search_path = ''
as $$
  values
  ('accepted', 'decision', 'Your place at Unplugged', 'Hello {{first_name}},

We would love to have you with us: your application to Unplugged. is accepted.

We keep your place until {{reply_by}}. Please tell us by then whether you are coming.

You can say so here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.'),
  ('reminder', 'reminder', 'Are you coming to Unplugged?', 'Hello {{first_name}},

We have not heard from you yet: are you coming to Unplugged.? We keep your place until {{reply_by}}.

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

revoke all on function private.first_templates() from public, anon, authenticated;

-- Whether a letter may ask for an RSVP. Receipts, and letters that waitlist or decline, may not.
create function private.may_ask_for_rsvp(occasion text) returns boolean
  language sql immutable
  return coalesce(occasion, '') = 'accepted'
    or coalesce(occasion, '') <> 'received' and not private.is_decision(coalesce(occasion, ''));

revoke all on function private.may_ask_for_rsvp(text) from public, anon, authenticated;

-- Refuses an invalid template. `occasion` is its name.
create or replace function private.check_template(occasion text, subject text, body text) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  placeholder_values jsonb := private.placeholders(null::public.retreat_applications, false);
  unknown text;
begin
  perform private.check_text(subject, body);
  if occasion = 'received' then placeholder_values := '{"first_name": ""}'; end if;
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
  else
    update private.templates as template
      set subject = desk_set_template.subject, body = desk_set_template.body, version = template.version + 1
      where name = occasion and template.version = desk_set_template.version
      returning * into saved;
  end if;
  if saved.name is null then
    -- The caller repeats the change, because the response of the first call was lost.
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

-- Removes a template that organisers created, by its name, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
begin
  if exists (select from private.templates where name = occasion and kind <> 'other') then
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

drop function private.lock_letters(uuid[]);

-- Locks letters, their applications, and their templates, which cannot be removed meanwhile. Takes ids of letters and of
-- deliveries. For a receipt, which has no letter, it locks only the application.
create function private.lock_letters(ids uuid[]) returns void
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
  perform from private.letters where id = any (wanted) order by id for update;
end
$$;

revoke all on function private.lock_letters(uuid[]) from public, anon, authenticated;

drop function private.check_number(uuid[]);

-- Refuses more than 1,000 ids in one call.
create function private.check_number(ids uuid[]) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if cardinality(ids) > 1000 then
    raise exception 'At most 1,000 letters are acted on at once.' using errcode = '22023';
  end if;
end
$$;

revoke all on function private.check_number(uuid[]) from public, anon, authenticated;

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

-- Creates the draft of a template, unless there is one, or its letter is pending or has failed. Skips a letter that the applicant
-- already got, unless `again` is set, or the letter tells a decision and they were last told another one. Skips a reminder if one
-- was sent in the last three days. Returns the letter's id, null if it was skipped. A dropped letter becomes a draft with its
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
  if letter.state = 'draft' or private.is_undelivered(letter.id)
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

-- Whether a template may still be sent to an applicant. It has to exist. A decision has to be the current one. A reminder is only
-- for people without an RSVP. A confirmation is only for people who are coming, and a reminder of questions for those of them
-- with open questions.
create or replace function private.may_be_said(application uuid, template text) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (select from private.templates where name = may_be_said.template)
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
    -- The caller repeats the change, because the response of the first call was lost.
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

-- Releases drafts, an array of {id, seen}: they are sent after a minute. `seen` identifies the text that the organiser read: a
-- digest of the template's text, or the version of an edited letter (`draft_text`). For more than thirty letters, `number` must
-- equal their count. Letters that were sent before need `again`, except reminders. The result has the outcome of each.
-- `released`: it is queued. `gone`: it is no longer a draft, or its decision is no longer current. `changed`: since it was read.
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
        'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and private.is_recent(check_wanted_at),
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
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

drop function private.plain_name(text);

-- A name, if a receipt or a notice may contain it; null if it is blank or long, or looks like a link or a message.
create function private.plain_name(typed_name text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  name text := btrim(typed_name);
  -- The name as it looks to a reader: `１` and `①` are 1, and a wide dot is a dot.
  normalised text;
begin
  if name = '' or char_length(name) > 40 then return null; end if;
  normalised := normalize(name, nfkc);
  return case when
    -- No characters that become links or change the text's direction.
    normalised !~ '[[:cntrl:].:/\\@<>\u0085\u2028-\u202e\u2066-\u2069]' and normalised !~* '^www'
    -- No characters that look like a dot, a colon or a slash.
    and normalised !~ '[\u00b7\u02d0\u0323\u0589\u05c3\u06d4\u0701\u0702\u0964\u1362\u166e\u16eb\u1803\u1809\u2022\u2027\u2044\u2215\u2219\u2236\u22c5\u2571\u25cf\u2981\u29f8\u2cf9\u2cfe\u2e31\u2e33\u2e3c\u3002\u30fb\ua4f8\ua60e\ua6f3\ua789\ua78f\U00010101\U00010a50\U0001d16d]'
    -- No telephone number, and no sentence.
    and normalised collate "und-x-icu" !~ '[[:digit:]]'
    and cardinality(regexp_split_to_array(normalised, '[\s\u00ad\u115f\u1160\u1680\u180e\u200b\u2060\u2800\ufeff]+')) <= 4
    then name end;
end
$$;

revoke all on function private.plain_name(text) from public, anon, authenticated;

-- Writes the daily emails that are due, except those with nothing to report. They report the applications and RSVPs since the
-- last daily email, except those with a notice of their own, and the applications that will be erased.
create or replace function private.write_day_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
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
    where private.announced_applications() is not null or exists (
      select from public.retreat_applications as application
      where created_at > told_until and created_at <= until and not private.had_notice(account_id, application.id, null)
    ) or exists (
      select from private.history as rsvp
      where kind = 'answer' and author = 'applicant' and at > told_until and at <= until
        and not private.had_notice(account_id, rsvp.application_id, rsvp.id)
    );
end
$$;

-- Deletes notices and tests after a day, sent or not, and writes the daily emails that are due. A notice about one application or
-- RSVP, sent or failed, stays until the daily email has left out that application or RSVP.
create or replace function private.keep_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  -- A time too far ahead was stored before the clock was set back.
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
    if claimed.application_id is null and report @> '{"count": 0, "coming": 0, "notComing": 0, "erasing": null}' then
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

-- The content of a notice: one application or RSVP, or the counts of a day, with up to fifty plain names of applicants.
-- Applications are counted up to a thousand. Organisers who read blind get no names.
create or replace function private.notice_content(notice private.deliveries, blind boolean) returns jsonb
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
      'notComing', count(*) filter (where detail ->> 'answer' = 'not coming'),
      'erasing', private.announced_applications())
    from private.history as rsvp
    where kind = 'answer' and author = 'applicant' and at > notice.since and at <= notice.until
      and not private.had_notice(notice.organiser_id, rsvp.application_id, rsvp.id)
  );
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
-- resets the invitation: a later acceptance has a new link and no RSVP. It resets nothing if a later letter has already arrived.
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
  if template in ('reminder', 'questions') and new.state = 'done' then
    update private.invitations set reminded_at = new.done_at where application_id = new.application_id;
  end if;
  return null;
end
$$;

drop function private.has_link(text);

-- Whether a text has the placeholder of the link, or of the deadline. Letters are stored with these placeholders.
create function private.has_link(letter_text text) returns boolean
  language sql immutable set search_path = ''
  return letter_text ~ '\{\{\s*answer_link\s*\}\}';

revoke all on function private.has_link(text) from public, anon, authenticated;

drop function private.has_deadline(text);

create function private.has_deadline(letter_text text) returns boolean
  language sql immutable set search_path = ''
  return letter_text ~ '\{\{\s*reply_by\s*\}\}';

revoke all on function private.has_deadline(text) from public, anon, authenticated;

-- Whether an applicant's link has no more use: the deadline has passed, and they are not a guest who may still answer questions.
create function private.is_link_over(application uuid) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return private.is_deadline_over(application) and not exists (
    select from private.invitations join public.retreat_applications as guest on guest.id = application_id
    where application_id = application and is_accepted and rsvp = 'coming' and private.are_questions_open(edition)
  );
end
$$;

revoke all on function private.is_link_over(uuid) from public, anon, authenticated;

-- The link and the deadline in a letter that is not sent yet: placeholders. Both are blank if the person is not accepted. The
-- link is blank if it has no more use, and the deadline if it has passed.
create or replace function private.invitation_placeholders(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_accepted boolean := exists (
    select from private.invitations where application_id = application and invitations.is_accepted
  );
begin
  return jsonb_build_object(
    'answer_link', case when is_accepted and not private.is_link_over(application) then '{{answer_link}}' else '' end,
    'reply_by', case when is_accepted and not private.is_deadline_over(application) then '{{reply_by}}' else '' end);
end
$$;

-- Whether a letter is a confirmation to somebody who is coming.
create function private.is_confirmation(letter uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.letters where id = letter and template = 'confirmed')
$$;

revoke all on function private.is_confirmation(uuid) from public, anon, authenticated;

-- Whether a delivery contains a deadline that has passed, or a link that has no more use. An acceptance that an automation sends
-- in place of our email always counts as having the deadline. A confirmation asks for nothing, and is never overdue.
create or replace function private.is_overdue(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return (
      private.has_link(delivery.subject || delivery.body) and private.is_link_over(delivery.application_id)
      or (
        private.has_deadline(delivery.subject || delivery.body)
        or delivery.kind = 'decision' and exists (
          select from private.letters where id = delivery.letter_id and template = 'accepted'
        )
      ) and private.is_deadline_over(delivery.application_id)
    )
    and private.is_main(delivery) and not private.is_confirmation(delivery.letter_id);
end
$$;

-- A text with the deadline filled in.
create function private.with_deadline(letter_text text, deadline date) returns text
  language sql immutable set search_path = ''
  return regexp_replace(letter_text, '\{\{\s*reply_by\s*\}\}', to_char(deadline, 'FMDD FMMonth YYYY'), 'g');

revoke all on function private.with_deadline(text, date) from public, anon, authenticated;

-- Subject and body of a letter as they are stored once it `was_sent`: with the deadline that the recipient read. The link is a
-- secret, so its placeholder stays.
create function private.as_sent(delivery private.deliveries, was_sent boolean, out subject text, out body text)
  language plpgsql stable set search_path = ''
as $$
declare
  deadline date;
begin
  subject := delivery.subject;
  body := delivery.body;
  if was_sent and delivery.kind = 'letter' and private.has_deadline(subject || body) then
    select invitation.deadline into deadline from private.invitations as invitation
      where application_id = delivery.application_id and is_accepted;
    -- Somebody who is no longer accepted has none.
    if deadline is not null then
      subject := private.with_deadline(subject, deadline);
      body := private.with_deadline(body, deadline);
    end if;
  end if;
end
$$;

revoke all on function private.as_sent(private.deliveries, boolean) from public, anon, authenticated;

drop function private.with_invitation(text, text, date);

-- A text with the link and the deadline filled in. Without a link (null), the paragraphs that need it are left out.
create function private.with_invitation(letter_text text, link text, deadline date) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  if link is null and private.has_link(letter_text) then
    letter_text := array_to_string(array(
      select paragraph
      from regexp_split_to_table(letter_text, '(?:\r?\n[ \t]*){2,}') with ordinality as parts (paragraph, position)
      where not private.has_link(paragraph) order by position
    ), E'\n\n');
  end if;
  letter_text := regexp_replace(letter_text, '\{\{\s*answer_link\s*\}\}', coalesce(link, ''), 'g');
  return private.with_deadline(letter_text, deadline);
end
$$;

revoke all on function private.with_invitation(text, text, date) from public, anon, authenticated;

-- Counts today as a day of announcement. The first day announces everything that is due within six days, and the later days
-- announce the same. `erasable_until`: from the seventh day on, everything that is due up to this day may be erased; null before.
-- `is_new`: today was not counted before. A clock that jumps erases nothing: if the last announcement was more than a month ago,
-- or is in the future, the count starts again.
create function private.announce(
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
    where announcements.edition = announce.edition and announcements.subject = announce.subject and days >= 7;
end
$$;

revoke all on function private.announce(integer, text) from public, anon, authenticated;

-- Ends announcements after everything was erased, or because they became wrong. The history says how many applications were
-- erased.
create function private.end_announcements(edition integer, subject text) returns void
  language sql set search_path = ''
  begin atomic
    with ended as (
      delete from private.announcements as former
        where former.edition = end_announcements.edition and former.subject = end_announcements.subject returning *
    )
    insert into private.history (author, kind, detail)
      select 'server', 'retention', jsonb_build_object('edition', ended.edition, 'erased', erased) from ended where erased > 0;
  end;

revoke all on function private.end_announcements(integer, text) from public, anon, authenticated;

-- Whether guests of an edition may still change their answers.
create function private.are_questions_open(edition integer) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.questions where questions.edition = are_questions_open.edition)
    and coalesce(questions_until, starts_on, 'infinity') >= private.today()
  from private.editions where id = are_questions_open.edition
$$;

revoke all on function private.are_questions_open(integer) from public, anon, authenticated;

-- Whether an edition has a required question. Without one, a caller need not read each person of the retreat.
create function private.has_required_questions(edition integer) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.questions where questions.edition = has_required_questions.edition and is_required)
$$;

revoke all on function private.has_required_questions(integer) from public, anon, authenticated;

-- Whether somebody has not answered all required questions of their edition, and still can.
create function private.has_open_questions(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from public.retreat_applications as asked join private.questions using (edition)
    where asked.id = application and is_required and private.are_questions_open(edition) and not exists (
      select from private.question_answers where application_id = application and question_id = questions.id
    )
  )
$$;

revoke all on function private.has_open_questions(uuid) from public, anon, authenticated;

-- The questions of an edition with the answers of an application, in order: [{id, kind, text, choices, is_required, is_private,
-- is_answered, answer}]. `answer` is null for a private question, unless `shows_private` is set.
create function private.questions_of(application uuid, edition integer, shows_private boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', id, 'kind', kind, 'text', text, 'choices', choices, 'is_required', is_required, 'is_private', is_private,
    'is_answered', answer is not null, 'answer', case when shows_private or not is_private then answer end
  ) order by position), '[]')
  from private.questions left join private.question_answers on question_id = id and application_id = application
  where questions.edition = questions_of.edition
$$;

revoke all on function private.questions_of(uuid, integer, boolean) from public, anon, authenticated;

-- Stores answers by the id of their question. A blank text removes an answer. Questions that are left out keep their answers. A
-- reminder of questions is dropped if no required question is open any more. The result is the number of changes. The caller has
-- locked the application.
create function private.store_answers(application uuid, answers jsonb) returns integer
  language plpgsql set search_path = ''
as $$
declare
  entry record;
  asked private.questions;
  answer text;
  changes integer := 0;
begin
  if jsonb_typeof(answers) is distinct from 'object' then
    raise exception 'Answers are an object with a text for each question.' using errcode = '22023';
  end if;
  for entry in select * from jsonb_each(answers) loop
    select questions.* into asked from private.questions join public.retreat_applications as applied using (edition)
      where applied.id = application and questions.id::text = entry.key;
    answer := btrim(entry.value #>> '{}', E' \t\r\n');
    if not found then
      raise exception 'The questions have changed. Please reload this page.' using errcode = 'PT409';
    elsif jsonb_typeof(entry.value) <> 'string' or char_length(answer) > 2000
      or asked.kind <> 'long' and answer ~ '[[:cntrl:]]'
      or answer <> '' and (
        asked.kind = 'choice' and answer <> all (asked.choices)
        or asked.kind = 'yes-no' and answer not in ('yes', 'no')
      )
    then
      raise exception 'This is no answer to "%".', asked.text using errcode = '22023';
    end if;
    if answer = '' then
      delete from private.question_answers where application_id = application and question_id = asked.id;
    else
      insert into private.question_answers as former (application_id, question_id, answer)
        values (application, asked.id, answer)
        on conflict (application_id, question_id) do update set answer = excluded.answer, answered_at = now()
          where former.answer <> excluded.answer;
    end if;
    if found then changes := changes + 1; end if;
  end loop;
  if not private.has_open_questions(application) then
    perform private.drop_letters(application, 'questions');
  end if;
  return changes;
end
$$;

revoke all on function private.store_answers(uuid, jsonb) from public, anon, authenticated;

-- Stores the answers that somebody who is coming gave through their link. Repeating the act stores nothing more. The result is
-- the invitation afterwards. After the last day nothing is stored.
create function public.answer_questions(token text, answers jsonb, act uuid) returns jsonb
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
  elsif (public.place_by_token(token) #>> '{questions,is_open}')::boolean
    and private.begin_act(act, 'answer_questions', token, answers::text)
  then
    perform private.refuse_too_many_changes(application);
    perform private.write_answers(application, act, 'applicant', answers);
    if private.has_open_questions(application) then
      raise exception 'Please answer all questions that are required.' using errcode = '22023';
    end if;
  end if;
  return public.place_by_token(token);
end
$$;

revoke all on function public.answer_questions(text, jsonb, uuid) from public, anon, authenticated;
grant execute on function public.answer_questions(text, jsonb, uuid) to anon, authenticated;

-- Stores answers and writes into the history how many changed. The caller has locked the application.
create function private.write_answers(application uuid, act uuid, author text, answers jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  changes integer := private.store_answers(application, answers);
begin
  if changes > 0 then
    perform private.write_down(application, act, author, 'questions', jsonb_build_object('changes', changes));
  end if;
end
$$;

revoke all on function private.write_answers(uuid, uuid, text, jsonb) from public, anon, authenticated;

-- Stores answers that somebody gave another way, such as by email. Required questions may stay unanswered.
create function public.desk_answer_questions(act uuid, application uuid, answers jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.lock_accepted(application);
  if me.blind and exists (
    select from private.questions where is_private and id::text in (select jsonb_object_keys(answers))
  ) then
    raise exception 'Private questions are hidden while you read blind.' using errcode = '42501';
  elsif private.begin_act(act, 'desk_answer_questions', application::text, answers::text) then
    perform private.write_answers(application, act, me.email, answers);
  end if;
  return private.application_details(application, me.blind);
end
$$;

revoke all on function public.desk_answer_questions(uuid, uuid, jsonb) from public, anon, authenticated;
grant execute on function public.desk_answer_questions(uuid, uuid, jsonb) to authenticated;

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
    perform private.write_rsvp_notices(application, act);
  end if;
end
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
      'first_name', left(btrim(first_name, E' \t\r\n'), 200), 'until', until, 'answer', rsvp,
      'address', coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender),
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

-- Refuses more than twenty changes by an applicant in an hour. A future time does not count: the clock was set back.
create function private.refuse_too_many_changes(application uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if (
    select count(*) from private.history
    where application_id = application and kind in ('answer', 'questions') and author = 'applicant'
      and at > now() - interval '1 hour' and at <= clock_timestamp()
  ) >= 20 then
    raise exception 'There were too many changes. Please try again in an hour.' using errcode = 'PT429';
  end if;
end
$$;

revoke all on function private.refuse_too_many_changes(uuid) from public, anon, authenticated;

-- Stores `answer`, the RSVP that was given through the link: `coming`, or `not coming`. Repeating the act stores nothing more.
-- After the deadline nothing is stored. Returns the invitation afterwards, as `place_by_token` does.
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
    perform private.refuse_too_many_changes(application);
    perform private.set_rsvp(application, act, 'applicant', answer);
  end if;
  return public.place_by_token(token);
end
$$;

-- Sets the deadline of an accepted person to the day `until`.
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
  -- A retry must not overwrite a deadline that was set after the first call.
  if private.begin_act(act, 'desk_keep_until', application::text, until::text) then
    perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
    update private.invitations set deadline = until, is_deadline_set = true where application_id = application;
  end if;
  return private.application_details(application, me.blind);
end
$$;

-- The day on which the private answers of an edition are erased; null while it is unknown.
create function private.answers_erased_on(edition private.editions) returns date
  language sql immutable set search_path = ''
as $$
  select edition.ends_on + edition.private_days
$$;

revoke all on function private.answers_erased_on(private.editions) from public, anon, authenticated;

-- The number of private answers that are due to be erased.
create function private.count_due_answers() returns bigint
  language sql stable set search_path = ''
as $$
  select count(*)
  from private.question_answers join private.questions on questions.id = question_id
    join private.editions on editions.id = questions.edition
  where is_private and private.answers_erased_on(editions) <= private.today()
$$;

revoke all on function private.count_due_answers() from public, anon, authenticated;

-- The questions of an edition, by default the newest: {version, questions, until, closes_on, private_days, erased_on, due}.
-- `until` is the last day for answers if organisers set it, and `closes_on` the one that counts. `due` counts the private answers
-- of all editions that are due to be erased. Each question has the number of its `answers`.
create function public.desk_questions(edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'version', questions_version, 'until', questions_until, 'closes_on', coalesce(questions_until, starts_on),
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

revoke all on function public.desk_questions(integer) from public, anon, authenticated;
grant execute on function public.desk_questions(integer) to authenticated;

-- Checks one question as `desk_set_questions` gets it, and returns it as a row.
create function private.question_given(sent jsonb, edition integer, list_position integer) returns private.questions
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
  elsif former.edition <> question.edition or former.kind <> question.kind
    or former.is_private and not question.is_private
      and exists (select from private.question_answers where question_id = former.id)
  then
    raise exception 'A question keeps its kind, and stays private once it has answers. Remove it, and ask a new one.'
      using errcode = '22023';
  end if;
  return question;
end
$$;

revoke all on function private.question_given(jsonb, integer, integer) from public, anon, authenticated;

-- Sets the questions of an edition, by default the newest, in the order of `questions`. Former questions that are not among them
-- are removed with their answers. `until` is the last day for answers, null for the first day of the retreat. `private_days`
-- counts from the end of the retreat.
create function public.desk_set_questions(
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
  delete from private.questions where questions.edition = former.id and id not in (select id from unnest(wanted));
  insert into private.questions select * from unnest(wanted)
    on conflict (id) do update set (position, text, choices, is_required, is_private)
      = (excluded.position, excluded.text, excluded.choices, excluded.is_required, excluded.is_private);
  update private.editions set questions_version = former.questions_version + 1, questions_until = until,
    private_days = desk_set_questions.private_days where id = former.id;
  if former.private_days is distinct from desk_set_questions.private_days then
    perform private.end_announcements(former.id, 'answers');
  end if;
  insert into private.history (author, kind, detail)
    values (me.email, 'questions', jsonb_build_object('questions', cardinality(wanted)));
  return public.desk_questions(former.id);
end
$$;

revoke all on function public.desk_set_questions(integer, jsonb, date, integer, integer) from public, anon, authenticated;
grant execute on function public.desk_set_questions(integer, jsonb, date, integer, integer) to authenticated;

-- Up to 1,000 people who are coming to the retreat of an edition, by default the newest: {guests: [{id, first_name, last_name,
-- email, phone, company, answers}], next}. `answers` are by the id of the question, and `next` is the cursor for the next call.
-- Blind readers get only ids, and answers that are not private.
create function public.desk_guests(after jsonb default null, edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    with guests as (
      select application.*
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
      )) || case when me.blind then '{}' else jsonb_build_object(
        'first_name', left(first_name, 200), 'last_name', left(last_name, 200), 'email', left(email, 200),
        'phone', left(phone, 200), 'company', left(company, 200)) end order by shown.id), '[]'),
      'next', case when (select count(*) from guests) > 1000
        then jsonb_build_object('id', (array_agg(shown.id order by shown.id desc))[1]) end)
    from shown
  );
end
$$;

revoke all on function public.desk_guests(jsonb, integer) from public, anon, authenticated;
grant execute on function public.desk_guests(jsonb, integer) to authenticated;

-- Erases the private answers that are due, of the editions `due` or of all (null), and writes into the history how many.
create function private.erase_due_answers(author text, due integer[] default null) returns integer
  language plpgsql set search_path = ''
as $$
declare
  erased integer;
begin
  delete from private.question_answers using private.questions, private.editions
    where questions.id = question_id and editions.id = questions.edition
      and is_private and private.answers_erased_on(editions) <= private.today() and editions.id = any (coalesce(due, array[editions.id]));
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (author, kind, detail) values (author, 'questions', jsonb_build_object('erased', erased));
  end if;
  return erased;
end
$$;

revoke all on function private.erase_due_answers(text, integer[]) from public, anon, authenticated;

-- Announces private answers that will be erased within six days, and erases those that were announced on seven days. Servers call
-- this regularly. The result is the number of erased answers.
create function private.keep_answers() returns integer
  language plpgsql set search_path = ''
as $$
declare
  due record;
  erased integer := 0;
begin
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

revoke all on function private.keep_answers() from public, anon, authenticated;

-- Erases the private answers that are due now: on a hosted project no server erases them.
create function public.desk_erase_answers() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('erased', private.erase_due_answers(me.email));
end
$$;

revoke all on function public.desk_erase_answers() from public, anon, authenticated;
grant execute on function public.desk_erase_answers() to authenticated;

drop function public.desk_places(text);

-- The numbers of places and RSVPs of an edition, by default the newest, and its waitlist. The result is {version, places,
-- days, zone, is_zone_set, site, today, edition, editions, erasing, retreat, questions, coming, not_coming, no_answer, late,
-- not_told, to_remind, free, waitlisted, waitlist}. `editions` are all editions, the newest first. `erasing`: the announced
-- applications (24_retention.sql). `retreat` has the edition's days and venue. `questions` has the number of its questions,
-- and of people with `open` ones. `late` is a part of `no_answer`. `to_remind`: the reminders that `desk_remind` would draft.
-- `free` is null if the number of places is unknown, and negative if more people were accepted. `waitlist` has the first
-- twenty of those `waitlisted`. `zone` is `UTC` until one is set. Older desks send the argument `zone`, which is ignored.
create function public.desk_places(zone text default null, edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  -- Computed once, not for each row.
  today constant date := private.today();
  shown record := private.edition_in(jsonb_build_object('edition', edition));
begin
  return (
    with counted as (
      select count(*) filter (where state = 'coming') as coming,
        count(*) filter (where state = 'not coming') as not_coming,
        count(*) filter (where state in ('no answer', 'late')) as no_answer,
        count(*) filter (where state = 'late') as late,
        count(*) filter (where state = 'not told') as not_told,
        count(*) filter (where state in ('no answer', 'late') and not is_reminded) as not_reminded
      from (
        select private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) as state,
          coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
        from private.invitations
        where is_accepted and private.is_of(application_id, shown.id, shown.is_only)
      ) as invitations
    ), open_questions as (
      select count(*) as people,
        count(*) filter (where not coalesce(private.is_reminder_recent(reminded_at), false)) as not_reminded
      from private.invitations
      where is_accepted and rsvp = 'coming' and private.is_of(application_id, shown.id, shown.is_only)
        and (select private.has_required_questions(shown.id)) and private.has_open_questions(application_id)
    )
    select to_jsonb(counted) - 'not_reminded' || jsonb_build_object(
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
        least(counted.not_reminded - private.count_with_reminder('reminder', shown.id, shown.is_only, today), 1000)
        + least(open_questions.not_reminded - private.count_with_reminder('questions', shown.id, shown.is_only, today), 1000),
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
        from (
          select application_id, set_at from private.statuses
          where status = 'waitlisted' and private.is_of(application_id, shown.id, shown.is_only) order by set_at, application_id limit 20
        ) as waiting
          join public.retreat_applications as application on id = waiting.application_id
          cross join private.summaries(array[id], me.blind)
      ))
    from private.places as settings, counted, open_questions, lateral (
      select case when shown.id = max(id) then settings.places else max(editions.places) filter (where id = shown.id) end as seats
      from private.editions
    ) as known
  );
end
$$;

revoke all on function public.desk_places(text, integer) from public, anon, authenticated;
grant execute on function public.desk_places(text, integer) to authenticated;

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
    -- This is not a retry of the last change after a lost response.
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return public.desk_places();
end
$$;

-- The retreat of an edition: {uid, sequence, name, starts_on, ends_on, venue}; null until its days are set. `uid` names the
-- event in every calendar, and stays the same in a database that is restored from a backup.
create function private.retreat(edition integer) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'uid', md5(installation.id::text || ' ' || editions.id)::uuid, 'sequence', calendar_sequence, 'name', name,
    'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
  from private.editions cross join private.installation
  where editions.id = retreat.edition and starts_on is not null
$$;

revoke all on function private.retreat(integer) from public, anon, authenticated;

-- All editions, the newest first: [{id, name, began_at, starts_on, ends_on}]. `began_at` is null for the first, which was always
-- there.
create function private.editions_shown() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'began_at', nullif(began_at, '-infinity'),
    'starts_on', starts_on, 'ends_on', ends_on) order by id desc)
  from private.editions
$$;

revoke all on function private.editions_shown() from public, anon, authenticated;

-- Refuses days on which there can be no retreat.
create function private.check_days(starts_on date, ends_on date) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if (starts_on is null) <> (ends_on is null) then
    raise exception 'A retreat has a first and a last day, or neither yet.' using errcode = '22023';
  elsif starts_on > ends_on then
    raise exception 'The last day is before the first.' using errcode = '22023';
  elsif starts_on < '2000-01-01' or ends_on >= '3000-01-01' then
    raise exception 'The days are between 2000 and 2999.' using errcode = '22023';
  end if;
end
$$;

revoke all on function private.check_days(date, date) from public, anon, authenticated;

-- Sets the days and the venue of an edition, by default the newest. Both days are null if they are unknown. Nobody gets an email
-- about a change: people who are coming see it on their page.
create function public.desk_set_retreat(
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
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
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

revoke all on function public.desk_set_retreat(integer, date, date, text, integer) from public, anon, authenticated;
grant execute on function public.desk_set_retreat(integer, date, date, text, integer) to authenticated;

-- Sends somebody a confirmation, which can be stopped like any letter. A person gets at most one an hour, and none is queued
-- unless a server that sends emails was seen in the last day. A letter that quotes a blank form answer stays a draft. If this
-- fails, the RSVP is still stored. The caller has locked the application.
create function private.write_confirmation(application uuid, act uuid) returns void
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
      and queued_at > now() - interval '1 hour' and queued_at <= clock_timestamp()
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

revoke all on function private.write_confirmation(uuid, uuid) from public, anon, authenticated;

-- Whether a reminder was sent in the last three days, so that it is too early for another. A future time does not count: the
-- clock was set back.
create or replace function private.is_reminder_recent(sent_at timestamptz) returns boolean
  -- Strict, so that it costs nothing for people who got no reminder.
  language sql stable strict
  return sent_at > now() - interval '3 days' and sent_at <= clock_timestamp();

-- Whether somebody still has to do what a reminder asks for: give an RSVP, or as a guest answer questions. It sets no search
-- path, so that PostgreSQL can inline it.
create function private.is_to_be_reminded(invitation private.invitations, template text, today date) returns boolean
  language sql stable
as $$
  select case template
    when 'reminder' then coalesce(
      private.rsvp_state(invitation.is_accepted, invitation.told_at, invitation.deadline, invitation.rsvp, today)
        in ('no answer', 'late'), false)
    else invitation.is_accepted and coalesce(invitation.rsvp, '') = 'coming'
      and private.has_open_questions(invitation.application_id) end
$$;

revoke all on function private.is_to_be_reminded(private.invitations, text, date) from public, anon, authenticated;

-- The applications with a letter of a template that is not sent yet: a draft, or one that is waiting, being sent, or failed.
create function private.with_unsent_letter(template text) returns setof uuid
  language sql stable set search_path = ''
as $$
  -- Each part has an index, so sent letters are not read.
  select application_id from private.letters
    where coalesce(letters.template, '') = with_unsent_letter.template and state = 'draft'
  union select application_id from private.deliveries
    where kind = 'letter' and state in ('waiting', 'sending', 'failed')
      -- A subquery: for a join, PostgreSQL would read all letters.
      and (select letters.template from private.letters where id = letter_id) = with_unsent_letter.template
$$;

revoke all on function private.with_unsent_letter(text) from public, anon, authenticated;

-- Counts the people of an edition to remind with a template for whom a reminder of this template exists, but is not sent yet.
-- Places needs only the count, for which `to_remind` is too slow.
create function private.count_with_reminder(template text, edition integer, is_only boolean, today date) returns bigint
  language sql stable set search_path = ''
as $$
  select count(*) from private.with_unsent_letter(count_with_reminder.template) as application
    join private.invitations on application_id = application
  where private.is_to_be_reminded(invitations, count_with_reminder.template, today)
    and not coalesce(private.is_reminder_recent(reminded_at), false)
    and private.is_of(application_id, count_with_reminder.edition, is_only)
$$;

revoke all on function private.count_with_reminder(text, integer, boolean, date) from public, anon, authenticated;

drop function private.to_remind(date);

-- The people of an edition to remind with a template (`wanted`), the earliest deadline first, at most 1,001. `reminder` is for
-- people without an RSVP, and `questions` for guests with open questions that can still be answered. `waiting` counts the people
-- with such a reminder that is not sent yet, and `reminded` those who got one in the last three days.
create function private.to_remind(template text, edition integer, today date, out wanted uuid[], out waiting bigint, out reminded bigint)
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
    from private.invitations left join unsent using (application_id)
    where (to_remind.template = 'reminder' or (select private.has_required_questions(to_remind.edition)))
      and private.is_to_be_reminded(invitations, to_remind.template, today)
      and private.is_of(application_id, edition, not exists (select from private.editions where id <> edition))
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

revoke all on function private.to_remind(text, integer, date) from public, anon, authenticated;

-- Drafts a reminder for each of these people who still needs one. Returns the applications of the drafts.
create function private.draft_reminders(template text, applications uuid[], today date) returns uuid[]
  language plpgsql set search_path = ''
as $$
declare
  drafted uuid[] := array[]::uuid[];
  application uuid;
begin
  for application in
    select application_id from private.invitations
    where application_id = any (applications)
      and private.is_to_be_reminded(invitations, draft_reminders.template, today)
    order by application_id
  loop
    if private.draft_from_template(application, template, true) is not null then drafted := drafted || application; end if;
  end loop;
  return drafted;
end
$$;

revoke all on function private.draft_reminders(text, uuid[], date) from public, anon, authenticated;

drop function public.desk_remind(uuid);

-- Drafts reminders for people of an edition, by default the newest: those without an RSVP, the earliest deadline first, and
-- guests with open questions. It drafts at most 1,000 of each at once. Nobody is reminded twice in three days. The result is
-- {drafted, questions, late, waiting, reminded, more}. `questions` counts the drafted ones about questions, and `late` those
-- whose deadline has to be moved first. `waiting` counts people with a reminder that is not sent yet, and `reminded` those who
-- got one in the last three days. Repeating the act drafts none and returns the first result. A desk of version 1.0 sends no
-- `act`.
create function public.desk_remind(act uuid default null, edition integer default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  today constant date := private.today();
  shown record := private.edition_in(jsonb_build_object('edition', edition));
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
  found := private.to_remind('reminder', shown.id, today);
  guests := private.to_remind('questions', shown.id, today);
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

revoke all on function public.desk_remind(uuid, integer) from public, anon, authenticated;
grant execute on function public.desk_remind(uuid, integer) to authenticated;

-- Waits until nobody reads or writes applications, and blocks reading and writing until the transaction ends. It also locks the
-- door's row. A waiting lock request blocks all later applicants, so each attempt waits only briefly.
create function private.hold_applications() returns void
  language plpgsql set search_path = '' set lock_timeout = '100ms'
as $$
begin
  for attempt in 1 .. 50 loop
    begin
      lock table public.retreat_applications in access exclusive mode;
      perform from private.door for update;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'Applications are being read at this moment, such as for a backup. Please try again in some minutes.'
    using errcode = 'PT503';
end
$$;

revoke all on function private.hold_applications() from public, anon, authenticated;

-- Sets the product's templates to their first texts and removes the organisers' own templates that have no draft. Drafts keep the
-- texts that they have.
create function private.reset_templates() returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.letters as letter set subject = former.subject, body = former.body, version = letter.version + 1
    from private.templates as former
    where former.name = letter.template and letter.state = 'draft' and letter.subject is null;
  delete from private.templates as own where kind = 'other' and not exists (
    select from private.letters where template = own.name and state = 'draft'
  );
  update private.templates as former set subject = first.subject, body = first.body, version = former.version + 1
    from private.first_templates() as first
    where first.name = former.name and (first.subject, first.body) is distinct from (former.subject, former.body);
end
$$;

revoke all on function private.reset_templates() from public, anon, authenticated;

-- Begins the next edition at once: from now on, applications belong to it. `newest` is the number of the newest edition that the
-- organiser saw. `copied` says what the previous edition passes on: {templates, questions, places}, each a boolean. The door
-- stays open or closed, and counts from now on. For an hour, an application that the previous edition already has is not stored
-- again. Repeating the act changes nothing.
create function public.desk_begin_edition(
  act uuid, newest integer, name text, starts_on date, ends_on date, copied jsonb
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  start timestamptz;
begin
  name := btrim(coalesce(name, ''), E' \t\r\n');
  if name = '' or char_length(name) > 100 or name ~ '[[:cntrl:]]' then
    raise exception 'A retreat has a name of 1 to 100 characters.' using errcode = '22023';
  elsif jsonb_typeof(copied) is distinct from 'object' then
    raise exception '“copied” has to be an object.' using errcode = '22023';
  end if;
  perform private.check_days(starts_on, ends_on);
  if not private.begin_act(act, 'desk_begin_edition', newest::text, name) then
    return public.desk_places();
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
  update private.door set version = version + 1, received = 0, opened_at = start, edition_since = start,
    repeats_until = start + interval '1 hour';
  if (copied ->> 'places')::boolean is not true then
    update private.places set version = version + 1, places = null, days = 10;
  end if;
  if (copied ->> 'questions')::boolean then
    insert into private.questions (edition, position, kind, text, choices, is_required, is_private)
      select former.id + 1, position, kind, text, choices, is_required, is_private
      from private.questions where edition = former.id;
    update private.editions set private_days = former.private_days where id = former.id + 1;
  end if;
  if (copied ->> 'templates')::boolean is not true then
    perform private.reset_templates();
  end if;
  insert into private.history (act, author, kind, detail)
    values (desk_begin_edition.act, me.email, 'edition', jsonb_build_object('edition', former.id + 1, 'name', desk_begin_edition.name));
  return public.desk_places();
end
$$;

revoke all on function public.desk_begin_edition(uuid, integer, text, date, date, jsonb) from public, anon, authenticated;
grant execute on function public.desk_begin_edition(uuid, integer, text, date, date, jsonb) to authenticated;

-- Names an edition. The first has no name until it gets one.
create function public.desk_name_edition(edition integer, name text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  name := btrim(coalesce(name, ''), E' \t\r\n');
  if char_length(name) > 100 or name ~ '[[:cntrl:]]' then
    raise exception 'A retreat has a name of at most 100 characters.' using errcode = '22023';
  end if;
  update private.editions as named set name = desk_name_edition.name, calendar_sequence = calendar_sequence + 1
    where named.id = desk_name_edition.edition and named.name <> desk_name_edition.name;
  if found then
    insert into private.history (author, kind, detail)
      values (me.email, 'edition', jsonb_build_object('edition', edition, 'name', name, 'is_renamed', true));
  end if;
  return public.desk_places(edition => edition);
end
$$;

revoke all on function public.desk_name_edition(integer, text) from public, anon, authenticated;
grant execute on function public.desk_name_edition(integer, text) to authenticated;

-- Finds and locks the next email to send. Tests come first, since an organiser waits for them. Letters and notices follow.
-- Receipts come last: there may be as many as applications. Locked rows are skipped. The query joins no other table: for a
-- join, PostgreSQL would read all due emails to find the first.
create or replace function private.due_mail(kinds text[], has_room boolean, out kind text, out id uuid)
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
          -- Emails other than letters are not sent after a day.
          and (delivery.kind = 'letter' or queued_at > now() - interval '1 day')
          and (delivery.kind not in ('letter', 'receipt') or not private.is_busy(delivery))
        order by due_at limit 1 for update skip locked;
      if found then return; end if;
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

-- Claims a letter or a receipt that is due, and fills in the link and the deadline. A confirmation also has the retreat.
create or replace function private.claim_letter(delivery uuid, lease interval) returns jsonb
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
      'is_overdue', private.is_overdue(claimed), 'was_sending', was_sending,
      'retreat', case when private.is_confirmation(claimed.letter_id) then private.retreat(application.edition) end
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;

drop function public.desk_set_letters(integer, text, boolean);

-- Sets the reply address, and whether receipts and confirmations are sent; null leaves a switch unchanged.
create function public.desk_set_letters(
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
  kept.version := desk_set_letters.version + 1;
  kept.reply_to := coalesce(desk_set_letters.reply_to, '');
  kept.receipts := coalesce(desk_set_letters.receipts, former.receipts);
  kept.confirmations := coalesce(desk_set_letters.confirmations, former.confirmations);
  if former.version = desk_set_letters.version then
    update private.letter_settings as settings
      set version = kept.version, reply_to = kept.reply_to, receipts = kept.receipts, confirmations = kept.confirmations;
    if kept.reply_to <> former.reply_to then
      perform private.write_down_letters(me.email, jsonb_build_object('reply_to', kept.reply_to));
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

revoke all on function public.desk_set_letters(integer, text, boolean, boolean) from public, anon, authenticated;
grant execute on function public.desk_set_letters(integer, text, boolean, boolean) to authenticated;

-- Adds a server's counts to those of today: `counts` has the visits and starts of each source. A day has at most 200 different
-- names, of all servers together.
create or replace function private.count_visits(counts jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  today date := private.today();
  room integer;
begin
  -- One batch after the other, so that two servers neither exceed the limit together nor deadlock.
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

-- The applications of an email, the newest first: those that gave it, and those whose address organisers replaced with it.
create function private.applications_of(email text) returns uuid[]
  language sql stable set search_path = ''
as $$
  select array(
    select id from public.retreat_applications as application
    where private.person(application.email) = private.person(applications_of.email) or id = any (array(
      select application_id from private.addresses where private.person(address) = private.person(applications_of.email)
    ))
    order by created_at desc, id desc
  )
$$;

revoke all on function private.applications_of(text) from public, anon, authenticated;

-- The deliveries about an application, the oldest first, each with its recipient: an email address, or `webhook`. A daily notice
-- is among them if it may have named the applicant.
create function private.deliveries_about(application public.retreat_applications) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  daily constant uuid[] := array(
    select id from private.deliveries
    -- The first condition is for the index, which begins with the organiser.
    where organiser_id in (select account_id from private.organisers) and kind = 'notice' and until is not null and (
      application.created_at > since and application.created_at <= until or exists (
        select from private.history as event
        where event.application_id = application.id and event.kind = 'answer' and at > since and at <= until
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
        when done_at is null then private.address_of(application.id, application.email)
        -- A letter that arrived went to the address that was valid then.
        else coalesce((
          select detail ->> 'address' from private.history as event
          where event.application_id = application.id and event.kind = 'address' and at <= done_at order by event.id desc limit 1
        ), application.email)
      end,
      'subject', subject, 'body', body, 'since', since, 'until', until, 'state', state, 'by', "by", 'act', act, 'author', author,
      'queued_at', queued_at, 'due_at', due_at, 'tried_at', tried_at, 'done_at', done_at, 'attempts', attempts,
      'reply_status', reply_status, 'reply', reply, 'is_refused', is_refused, 'may_have_arrived', may_have_arrived,
      'closings', closings, 'recalled_at', recalled_at, 'recalled_by', recalled_by, 'is_beside', is_beside,
      'mailbox', mailbox, 'domain', domain
    ) order by queued_at, delivery.id), '[]')
    from private.deliveries as delivery
    where delivery.application_id = application.id or delivery.id = application.id or delivery.id = any (daily)
  );
end
$$;

revoke all on function private.deliveries_about(retreat_applications) from public, anon, authenticated;

-- The acts of the last day that name an application: those of its history, and those whose result has it, one of its letters or
-- one of its deliveries.
create function private.acts_about(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  ids constant text[] := array(
    select application::text
    union all select id::text from private.letters where application_id = application
    union all select id::text from private.deliveries where application_id = application
  );
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'act', acts.act, 'at', at, 'call', call, 'author', email, 'result', own_result
    ) order by at, acts.act), '[]')
    from private.acts
      left join auth.users on users.id = account_id
      cross join lateral (
        -- The other entries of a list are about other people.
        select case when jsonb_typeof(result) = 'array' then (
          select jsonb_agg(entry) from jsonb_array_elements(result) as entry
          where entry ->> 'id' = any (ids) or entry ->> 'application' = any (ids)
        ) else result end as own_result
      ) as filtered
    where jsonb_typeof(result) = 'array' and own_result is not null
      or exists (select from private.history as event where event.application_id = application and event.act = acts.act)
  );
end
$$;

revoke all on function private.acts_about(uuid) from public, anon, authenticated;

-- An application with what every table has about it. `reader`: the organiser who reads it, who gets the marks that they may see;
-- null for an operator, who gets all.
create function private.all_about_application(application uuid, reader uuid) returns jsonb
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
    -- The form's sentence of consent. People consent by sending the form, so the time is the application's.
    'consent', jsonb_build_object(
      'given', stored.consent, 'sentence', 'I consent to receiving communications from this team', 'at', stored.created_at),
    'address', (select address from private.addresses where application_id = application),
    'status', coalesce((
      select jsonb_build_object('status', status, 'version', version, 'set_at', set_at)
      from private.statuses where application_id = application
    ), '{"status": "new", "version": 0, "set_at": null}'),
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
        'deadline', deadline, 'is_deadline_set', is_deadline_set, 'rsvp', rsvp, 'rsvp_at', rsvp_at)
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

revoke all on function private.all_about_application(uuid, uuid) from public, anon, authenticated;

-- The account with an email; null if there is none. `organiser_since` is null unless it is an organiser's.
create function private.account_of(email text) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'email', users.email, 'created_at', users.created_at, 'last_sign_in_at', last_sign_in_at,
      'organiser_since', organiser.created_at, 'blind', blind, 'reads_only', reads_only, 'notices', notices,
      'history', (select count(*) from private.history where author_id = users.id),
      'marks', (select count(*) from private.marks where marks.account_id = users.id))
    from auth.users left join private.organisers as organiser on organiser.account_id = users.id
    where users.email = lower(btrim(account_of.email))
    -- In a hosted project, several accounts may have one email.
    order by organiser.created_at, users.id limit 1
  );
end
$$;

revoke all on function private.account_of(text) from public, anon, authenticated;

-- Everything about the person of an email: {email, applications, left_out, account}. At most `most` applications, the newest
-- first, and `left_out` counts the others.
create function private.all_about(email text, reader uuid default null, most integer default null) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  applications constant uuid[] := private.applications_of(all_about.email);
begin
  return jsonb_build_object(
    'email', all_about.email,
    'applications', (
      select coalesce(jsonb_agg(private.all_about_application(id, reader) order by position), '[]')
      from unnest(applications[:coalesce(most, cardinality(applications))]) with ordinality as one (id, position)
    ),
    'left_out', greatest(0, cardinality(applications) - most),
    'account', private.account_of(all_about.email)
  );
end
$$;

revoke all on function private.all_about(text, uuid, integer) from public, anon, authenticated;

-- Everything about the person of an application, with their hundred newest applications.
create function public.desk_all_about(application uuid) returns jsonb
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
  return private.all_about(person_email, me.id, 100);
end
$$;

revoke all on function public.desk_all_about(uuid) from public, anon, authenticated;
grant execute on function public.desk_all_about(uuid) to authenticated;

-- The day on which an application is due to be erased; null for never. The months count from the last day of its retreat, or from
-- the day on which it was stored if that is later. It sets no search path, so that PostgreSQL can inline it.
create function private.months_after(ends_on date, stored_on date, months integer) returns date
  language sql immutable
  return (greatest(ends_on, stored_on) + make_interval(months => months))::date;

revoke all on function private.months_after(date, date, integer) from public, anon, authenticated;

-- The day on which an application is erased; null for never.
create function private.erased_on(application public.retreat_applications) returns date
  language sql stable set search_path = ''
as $$
  select private.months_after(ends_on, (application.created_at at time zone coalesce(zone, 'UTC'))::date, case when exists (
    select from private.invitations where application_id = application.id and is_accepted and rsvp = 'coming'
  ) then months_for_guests else months end)
  from private.editions, private.retention, private.places
  where editions.id = application.edition and ends_on is not null
    and not exists (select from private.holds where application_id = application.id)
$$;

revoke all on function private.erased_on(retreat_applications) from public, anon, authenticated;

-- Up to `most` applications of an edition that are due on or before a day, the oldest first.
create function private.due_applications(edition integer, day date, most integer) returns setof uuid
  language sql stable set search_path = ''
as $$
  select application.id
  from private.editions as shown cross join private.retention cross join private.places
    join public.retreat_applications as application
      on application.edition = shown.id and created_at >= shown.since and created_at < shown.before
    left join private.invitations on application_id = application.id and is_accepted and rsvp = 'coming'
  where shown.id = due_applications.edition and shown.ends_on < day
    -- For the index. The five days allow for months of different lengths.
    and created_at < day + interval '5 days' - make_interval(months => least(months, months_for_guests))
    and private.months_after(ends_on, (created_at at time zone coalesce(zone, 'UTC'))::date,
      case when application_id is null then months else months_for_guests end) <= day
    and not exists (select from private.holds where holds.application_id = application.id)
  order by created_at, id limit most
$$;

revoke all on function private.due_applications(integer, date, integer) from public, anon, authenticated;

-- The number of applications that are due by today, counted up to 10,001.
create function private.count_due_applications() returns bigint
  language sql stable set search_path = ''
as $$
  select count(*) from (
    select from private.editions, private.due_applications(id, private.today(), 10001) limit 10001
  ) as due
$$;

revoke all on function private.count_due_applications() from public, anon, authenticated;

-- The applications whose erasing servers announce: {applications, from, days}, or null. `from`: the day of the first erasing.
-- `days`: on how many of seven days they were announced so far.
create function private.announced_applications() returns jsonb
  language sql stable set search_path = ''
as $$
  select case when count(*) > 0 then jsonb_build_object('applications', sum(counted.applications),
    'from', min(announced_on + greatest(7 - days, 0)), 'days', max(days)) end
  from private.announcements cross join lateral (
    select count(*) as applications from private.due_applications(edition, until, 10001)
  ) as counted
  where subject = 'applications' and counted.applications > 0
$$;

revoke all on function private.announced_applications() from public, anon, authenticated;

-- Erases up to `most` applications of an edition that are due on or before a day. Returns their number.
create function private.erase_due_applications(edition integer, day date, most integer) returns integer
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
    where id = any (due) and private.erased_on(application) <= day;
  get diagnostics erased = row_count;
  return erased;
end
$$;

revoke all on function private.erase_due_applications(integer, date, integer) from public, anon, authenticated;

-- Announces applications that will be erased within six days, and erases up to `most` of those that were announced on seven days.
-- Servers call this regularly, and again at once as long as it erases some: each call is short, and no insert waits for it. The
-- result is {erased, announced}. `announced`: the result of `private.announced_applications` once a day, otherwise null.
create function private.keep_applications(most integer) returns jsonb
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
      gone := private.erase_due_applications(shown, announcement.erasable_until, most);
      update private.announcements as round set erased = round.erased + gone
        where edition = shown and subject = 'applications';
      exit when gone > 0;
    end if;
    perform private.end_announcements(shown, 'applications');
  end loop;
  return jsonb_build_object('erased', gone, 'announced', case when is_new then private.announced_applications() end);
end
$$;

revoke all on function private.keep_applications(integer) from public, anon, authenticated;

-- How long applications are kept: {version, months, months_for_guests, due, announced, editions, holds}. `due`: the number of
-- applications that are due today. `editions`: [{id, name, ends_on, erased_on, guests_erased_on}], the newest first. `holds`: the
-- hundred applications on which a hold was put last: [{id, first_name, last_name, reason, held_by, held_at}]. Blind readers get
-- no names and reasons.
create function public.desk_retention() returns jsonb
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
          || case when me.blind then '{}' else jsonb_build_object(
            'first_name', left(first_name, 200), 'last_name', left(last_name, 200), 'reason', reason) end
          order by held_at desc, application_id), '[]')
        from (
          select application_id, held_by, held_at, holds.reason, first_name, last_name
          from private.holds join public.retreat_applications on id = application_id
          order by held_at desc, application_id limit 100
        ) as held
      ))
    from private.retention
  );
end
$$;

revoke all on function public.desk_retention() from public, anon, authenticated;
grant execute on function public.desk_retention() to authenticated;

-- Sets after how many months applications are erased, null for never. Seven days of announcements begin again.
create function public.desk_set_retention(version integer, months integer, months_for_guests integer) returns jsonb
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
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
    return public.desk_retention();
  elsif former.version is distinct from desk_set_retention.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.retention set version = former.version + 1, months = desk_set_retention.months,
    months_for_guests = desk_set_retention.months_for_guests;
  perform private.end_announcements(id, 'applications') from private.editions;
  insert into private.history (author, kind, detail)
    values (me.email, 'retention', jsonb_build_object('months', months, 'months_for_guests', months_for_guests));
  return public.desk_retention();
end
$$;

revoke all on function public.desk_set_retention(integer, integer, integer) from public, anon, authenticated;
grant execute on function public.desk_set_retention(integer, integer, integer) to authenticated;

-- Puts a hold on an application, with a reason: the retention does not erase it. A blank reason ends the hold. Then the
-- announcements of its edition begin again, so that it is not erased at once.
create function public.desk_hold(act uuid, application uuid, reason text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  reason := btrim(coalesce(reason, ''), E' \t\r\n');
  if char_length(reason) > 500 then
    raise exception 'A reason has at most 500 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_hold', application::text, reason) then
    -- It also locks the application.
    perform private.write_down(application, act, me.email, 'hold', jsonb_build_object('reason', nullif(reason, '')));
    if reason = '' then
      delete from private.holds where application_id = application;
      perform private.end_announcements(private.edition_of(application), 'applications');
    else
      insert into private.holds (application_id, reason, held_by) values (application, desk_hold.reason, me.email)
        on conflict (application_id) do update
          set (reason, held_by, held_at) = (excluded.reason, excluded.held_by, excluded.held_at);
    end if;
  end if;
  return private.application_details(application, me.blind);
end
$$;

revoke all on function public.desk_hold(uuid, uuid, text) from public, anon, authenticated;
grant execute on function public.desk_hold(uuid, uuid, text) to authenticated;

-- Erases at most 500 applications that are due, without announcements: on a hosted project, no server erases them. The result
-- is {erased, due}. `due` counts the applications that remain to be erased.
create function public.desk_erase_due(act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  shown integer;
  erased integer;
  total integer := 0;
begin
  if not private.begin_act(act, 'desk_erase_due', '') then
    return (select result from private.acts where acts.act = desk_erase_due.act);
  end if;
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

revoke all on function public.desk_erase_due(uuid) from public, anon, authenticated;
grant execute on function public.desk_erase_due(uuid) to authenticated;

drop function private.may_ask(text);
