-- Since when it stands there.
alter table private.statuses add column set_at timestamptz not null default now();
-- Who waits longest for a place.
create index statuses_waitlist on private.statuses (set_at, application_id) where status = 'waitlisted';

alter table private.history drop constraint history_kind_check;
alter table private.history add constraint history_kind_check
  check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address', 'told',
    'answer', 'kept', 'link', 'places'));
create index history_answers on private.history (at) where kind = 'answer';

alter table private.notices add column answer_id bigint references private.history (id) on delete cascade;
alter table private.notices add unique (organiser_id, answer_id);
alter table private.notices drop constraint notices_check;
alter table private.notices add check (num_nonnulls(application_id, answer_id, until, body) = 1);
create index notices_of_answer on private.notices (answer_id) where answer_id is not null;

-- One row: what organisers set, and what letters have to know of the page on which people answer.
create table private.places (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  -- Null: nobody has said how many there are.
  places integer check (places between 0 and 1000000),
  -- For how many days a place is kept, from the day of the letter on.
  days integer not null default 10 check (days between 1 and 365),
  -- In which a day ends: the server's, or that of the organiser who came first; null until then.
  zone text,
  -- Where the site is, without a slash at its end; blank where no server knows it.
  site text not null default '',
  -- Which address letters come from; blank where no server sends mails.
  sender text not null default ''
);
insert into private.places default values;
alter table private.places enable row level security;

-- Whether who was accepted comes. A row for each application that is accepted, or was.
create table private.acceptances (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  -- 122 random bits, with which the link in their letters ends.
  token uuid not null unique default gen_random_uuid(),
  -- Whether they are accepted now. What is taken back and made again keeps its link and its answer.
  is_accepted boolean not null,
  -- When a letter had told them.
  told_at timestamptz,
  -- The last day on which they can answer: set when a letter is handed over, moved by organisers.
  kept_until date,
  -- Null: none yet.
  answer text check (answer in ('coming', 'not coming')),
  answered_at timestamptz
);
alter table private.acceptances enable row level security;

revoke all on table private.places, private.acceptances from public, anon, authenticated;

-- Which day it is.
create function private.today() returns date
  language sql stable set search_path = ''
  begin atomic
    select (now() at time zone coalesce(zone, 'UTC'))::date from private.places;
  end;

revoke all on function private.today() from public, anon, authenticated;

-- Answers that an automation is to be told, in the same way, where a server of ours tells one. What is told is over.
create table private.answer_outbox (
  id uuid primary key default gen_random_uuid(),
  answer_id bigint not null unique references private.history (id) on delete cascade,
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  attempts integer not null default 0,
  -- As of an application's delivery.
  next_attempt_at timestamptz default now(),
  waits_since timestamptz not null default now(),
  queued_at timestamptz not null default now(),
  -- What the last try came to.
  last_answer text not null default ''
);
alter table private.answer_outbox enable row level security;
create index answer_outbox_of_application on private.answer_outbox (application_id);
create index answer_outbox_due on private.answer_outbox (next_attempt_at) where next_attempt_at is not null;

create trigger begin_wait before update of next_attempt_at on private.answer_outbox
  for each row when (new.next_attempt_at is distinct from old.next_attempt_at) execute function private.begin_wait();

revoke all on table private.answer_outbox from public, anon, authenticated;

-- Of whom a link is; null where it is nobody's, or the acceptance was taken back.
create function private.accepted_by(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application_id from private.acceptances as acceptance
  where is_accepted and acceptance.token
    = case when accepted_by.token ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then accepted_by.token::uuid end
$$;

revoke all on function private.accepted_by(text) from public, anon, authenticated;

drop function private.write_notices(uuid);

-- Tells the organisers who hear of each application, or answer; of more than ten an hour the day's mail tells.
create function private.write_notices(application uuid, answer bigint default null) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.notices (organiser_id, application_id, answer_id)
      select account_id, write_notices.application, answer from private.organisers as organiser
      where notices = 'each' and (
        select count(*) from private.notices as notice
        where organiser_id = account_id and num_nonnulls(application_id, answer_id) = 1
          and notice.created_at > now() - interval '1 hour' and notice.created_at <= clock_timestamp()
      ) < 10;
  end;

revoke all on function private.write_notices(uuid, bigint) from public, anon, authenticated;

-- Writes the day's mails that are due, for organisers who were not told of all that came since the last.
create or replace function private.write_day_notices() returns void
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
    insert into private.notices (organiser_id, since, until)
      select account_id, told_until, until from due
      where exists (
        select from public.retreat_applications as application
        where created_at > told_until and created_at <= until and not exists (
          select from private.notices as notice
          where organiser_id = account_id and application_id = application.id and due_at is null
        )
      ) or exists (
        select from private.history as answer
        where kind = 'answer' and author = 'applicant' and at > told_until and at <= until and not exists (
          select from private.notices as notice
          where organiser_id = account_id and answer_id = answer.id and due_at is null
        )
      );
  end;

-- Sets statuses, each of them only where the application still stands as whoever decides saw it. `decisions` is an
-- array of {id, status, version, takes_back}; what comes back says of each what became of it: kept, stale (with who did
-- what meanwhile), told (it takes a decision back of which a letter has left), or gone. The same act again changes
-- nothing.
create or replace function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  application record;
  standing private.statuses;
  outcome text;
  last_change record;
  outcomes jsonb := jsonb_build_array();
begin
  if jsonb_array_length(decisions) > 1000 then
    raise exception 'At most 1,000 applications are decided at once.' using errcode = '22023';
  end if;
  -- In one order, so that two who decide at the same time wait for each other and not in a circle.
  for decision in
    select distinct on (id) id, status, version, takes_back
    from jsonb_to_recordset(decisions) as sent (id uuid, status text, version integer, takes_back boolean) order by id
  loop
    select id, created_at into application
      from public.retreat_applications where id = decision.id for no key update;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, created_at, status, version)
      values (application.id, application.created_at, 'new', 0) on conflict do nothing;
    select * into standing from private.statuses where application_id = application.id for update;
    select author, at, history.act into last_change
      from private.history where application_id = application.id and kind = 'status' order by id desc limit 1;
    if last_change.act = desk_decide.act and decision.status = standing.status then
      outcome := 'kept';
    elsif decision.version is distinct from standing.version then
      outcome := 'stale';
    elsif decision.takes_back and exists (
      select from private.letters
      where application_id = application.id and occasion = standing.status and state in ('sending', 'sent')
    ) then
      outcome := 'told';
    else
      outcome := 'kept';
      if decision.status is distinct from standing.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          application.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', standing.status)
        ) returning author, at, history.act into last_change;
        update private.statuses set status = decision.status, version = standing.version + 1, set_at = now()
          where application_id = application.id returning * into standing;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', application.id, 'outcome', outcome, 'status', standing.status, 'version', standing.version,
      'author', last_change.author, 'at', last_change.at
    );
  end loop;
  return outcomes;
end
$$;

-- The ids of the applications that a filter lets through, the newest first, and where to go on. It looks at so many
-- candidates and no more, whatever the filter, and a second at the most: a call that finds little comes back with where
-- it stopped.
--
-- In the filter, each of them optional: status, search, team_size, paid_solution, answer (one of those who were accepted),
-- since, until, and order, which is `oldest` where these come first. Each order has queries of its own, which keep to the index.
create or replace function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, out ids uuid[], out next jsonb
)
  language plpgsql stable set search_path = ''
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  wanted_answer text := filter ->> 'answer';
  today date := case when wanted_answer is not null then private.today() end;
  query tsquery;
  hits uuid[];
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- Between which moments, both exclusive: it goes on behind the last one that was looked at.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  since_id uuid := first_id;
  before timestamptz := coalesce((filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := first_id;
  candidates refcursor;
  candidate record;
  looked integer := 0;
  -- As much as in two hundred ordinary applications.
  octets_left integer := 60000;
  ends timestamptz := clock_timestamp() + interval '1 second';
begin
  if wanted not in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined') then
    raise exception 'There is no status "%".', left(wanted, 100) using errcode = '22023';
  elsif wanted_answer not in ('coming', 'not coming', 'no answer', 'late', 'not told') then
    raise exception 'There is no answer "%".', left(wanted_answer, 100) using errcode = '22023';
  elsif wanted_answer is not null then
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
    query := private.search_query(filter ->> 'search');
    -- Signs alone are in no index.
    if query is null then return; end if;
    hits := private.hits(query, blind);
    if hits is null then look := least(look, 200); end if;
  end if;
  if hits is not null then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where id = any (hits) and (application.created_at, id) < (before, before_id)
        and (application.created_at, id) > (since, since_id)
      order by case when is_oldest_first then application.created_at end, case when is_oldest_first then id end,
        application.created_at desc, id desc;
  elsif query is null and wanted <> 'new' and is_oldest_first then
    open candidates for
      select id, application.created_at, team_size, paid_solution, standing.status, true as matches, 0 as octets
      from private.statuses as standing join public.retreat_applications as application on id = application_id
      where standing.status = wanted
        and (standing.created_at, application_id) > (since, since_id) and standing.created_at < before
      order by standing.created_at, application_id;
  elsif query is null and wanted <> 'new' then
    open candidates for
      select id, application.created_at, team_size, paid_solution, standing.status, true as matches, 0 as octets
      from private.statuses as standing join public.retreat_applications as application on id = application_id
      where standing.status = wanted
        and (standing.created_at, application_id) < (before, before_id) and standing.created_at >= since
      order by standing.created_at desc, application_id desc;
  elsif query is null and is_oldest_first then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where (application.created_at, id) > (since, since_id) and application.created_at < before
      order by application.created_at, id;
  elsif query is null then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  elsif is_oldest_first then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, case when blind
          then coalesce(blind_vector, private.search_vector('', '', '', '', '', custom_solution, reason))
          else coalesce(vector, private.search_vector(
            first_name, last_name, email, linkedin, company, custom_solution, reason))
        end @@ query as matches,
        -- A vector that is kept takes as long as a short application.
        case when vector is null then private.search_octets(
          first_name, last_name, email, linkedin, company, custom_solution, reason) else 300 end as octets
      from public.retreat_applications as application
        left join private.statuses as standing on standing.application_id = id
        left join private.search_vectors as kept on kept.application_id = id
      where (application.created_at, id) > (since, since_id) and application.created_at < before
      order by application.created_at, id;
  else
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, case when blind
          then coalesce(blind_vector, private.search_vector('', '', '', '', '', custom_solution, reason))
          else coalesce(vector, private.search_vector(
            first_name, last_name, email, linkedin, company, custom_solution, reason))
        end @@ query as matches,
        case when vector is null then private.search_octets(
          first_name, last_name, email, linkedin, company, custom_solution, reason) else 300 end as octets
      from public.retreat_applications as application
        left join private.statuses as standing on standing.application_id = id
        left join private.search_vectors as kept on kept.application_id = id
      where (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  end if;
  loop
    fetch candidates into candidate;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      -- There is more: the next call begins behind the last one that was looked at.
      return;
    end if;
    looked := looked + 1;
    octets_left := octets_left - candidate.octets;
    next := jsonb_build_object('created_at', candidate.created_at, 'id', candidate.id);
    if candidate.matches and candidate.status = coalesce(wanted, candidate.status)
      and candidate.team_size = coalesce(filter ->> 'team_size', candidate.team_size)
      and candidate.paid_solution = coalesce(filter ->> 'paid_solution', candidate.paid_solution)
      and (wanted_answer is null or private.has_answer(candidate.id, wanted_answer, today))
    then
      ids := ids || candidate.id;
    end if;
  end loop;
  next := null;
end
$$;

-- An application as an organiser may see it: its answers, of which who reads blind is shown those that are named here,
-- where it stands, whether they come, and whether its e-mail applied again.
create or replace function private.shown(application public.retreat_applications, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select case
        when blind then jsonb_build_object(
          'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
          'custom_solution', application.custom_solution, 'team_size', application.team_size,
          'reason', application.reason, 'consent', application.consent)
        else to_jsonb(application)
      end
      || jsonb_build_object(
        'status', coalesce(standing.status, 'new'),
        'version', coalesce(standing.version, 0),
        'same_email', not blind and exists (
          select from public.retreat_applications as other
          where private.person(other.email) = private.person(application.email) and other.id <> application.id
        )
      )
      || private.answer_shown(application.id)
    from (values (application.id)) as one (id) left join private.statuses as standing on application_id = one.id
  );
end
$$;

-- What happened as an organiser may see it: who reads blind reads of these kinds alone more than that it happened.
create or replace function private.detail_shown(kind text, detail jsonb, blind boolean) returns jsonb
  language sql immutable set search_path = ''
  return case
    when not blind or kind in ('status', 'note', 'revealed', 'told', 'answer', 'kept', 'link') then detail else '{}'
  end;

-- What became of a list that is on a screen. `shown` are its rows, {id, version}, the first thousand of them; `oldest` is
-- where it ends, null where it was read to its end. What comes back: the rows whose status changed, those that are gone,
-- what became of the letters of all, and of the answers, by their ids, and how many the filter lets through that are not shown: `newer` than all rows, or
-- between them (`older`). `more`: there may be more of these. Which they are (`unseen`) is for desks that were opened
-- before an update.
create or replace function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- What comes in while a list stands that was read to its end is the newest in either order.
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
        select coalesce(jsonb_object_agg(application_id, private.answer_shown(application_id)), '{}')
        from private.acceptances where application_id in (select id from of_list)
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

-- What organisers made of some applications, for a table: whether they come, who decided last and when, the notes, and what
-- became of the letters. It names no address and quotes no letter, so that who reads blind may read it.
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
      'answer', case when is_accepted then answer end, 'answered_at', case when is_accepted then answered_at end,
      'decided_by', author, 'decided_at', decided_at,
      'notes', coalesce(notes, '[]'), 'letters', coalesce(letters, '[]'))
    from unnest(applications) as each_one
      left join happened on happened.id = each_one
      left join written on written.id = each_one
      left join private.acceptances as acceptance on acceptance.application_id = each_one;
end
$$;

-- What tells one state of an application from another, and of all that is known of it: nothing of it has a text that
-- somebody could guess.
create or replace function private.stamp(application uuid) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return md5(jsonb_build_array(
    (select version from private.statuses where application_id = application),
    -- It is only ever added to.
    (select count(*) from private.history where application_id = application),
    private.answer_shown(application),
    (
      select jsonb_agg(jsonb_build_array(id, state, version, attempts, due_at, otherwise) order by id)
      from private.letters where application_id = application
    ),
    (
      select jsonb_build_array(attempts, delivered_at, next_attempt_at)
      from private.webhook_outbox where application_id = application
    )
  )::text);
end
$$;

-- The answers that a letter may quote, by their placeholders, as the applicant read them. Who reads blind is shown those
-- of the choices and the reason, and of the others whether they are blank. What looks like the placeholders that stay in a
-- letter until it is handed over is taken apart.
create or replace function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and name not in ('paid_solution', 'custom_solution', 'team_size', 'reason')
      and btrim(answer, E' \t\r\n') <> '' then '(hidden)'
    else regexp_replace(btrim(answer, E' \t\r\n'), '\{(?=\{\s*(?:answer_link|reply_by)\s*\}\})', '{ ', 'g') end)
  from (values
    ('first_name', application.first_name), ('last_name', application.last_name), ('email', application.email),
    ('phone', application.phone), ('linkedin', application.linkedin), ('company', application.company),
    ('paid_solution', case application.paid_solution
      when 'not' then 'I have not' when 'screen' then 'Yes, screen time related'
      when 'travel' then 'Yes, travel related' when 'work' then 'Yes, work or team related'
      when 'custom' then 'Custom' else '' end),
    ('custom_solution', application.custom_solution),
    ('team_size', case application.team_size when 'just-me' then 'Just me' else application.team_size end),
    ('reason', application.reason)
  ) as answers (name, answer)
$$;

drop function private.filled(text, text, retreat_applications, boolean);

-- Subject and body for one application. The link on which they answer, and the day, stay placeholders.
create function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean, place jsonb default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(application, blind) || coalesce(place, private.place_answers(application.id));
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

revoke all on function private.filled(text, text, retreat_applications, boolean, jsonb) from public, anon, authenticated;

drop function private.example(text, text, text, uuid, boolean);

-- What a text is filled in for: an application, or the newest one where none is named; null where there is none. Its link
-- answers nothing. `site`: where the desk is, of which nobody else may know; `has_no_site`: the link is left out.
create function private.example(
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
      'subject', private.with_place(text ->> 'subject', coalesce(known.link, ''), known.day),
      'body', private.with_place(text ->> 'body', known.link, known.day),
      'has_no_site', known.link is null and private.has_link(body));
  end if;
  return text || jsonb_build_object('application', given.id, 'name', case when not blind then
    btrim(left(given.first_name, 200) || ' ' || left(given.last_name, 200)) end);
end
$$;

revoke all on function private.example(text, text, text, uuid, boolean, text) from public, anon, authenticated;

-- Whether a letter may ask whether somebody comes: of those who are told something else nobody is asked.
create function private.may_ask(occasion text) returns boolean
  language sql immutable
  return coalesce(occasion, '') not in ('received', 'waitlisted', 'declined');

revoke all on function private.may_ask(text) from public, anon, authenticated;

-- Refuses what is no template.
create or replace function private.check_template(occasion text, subject text, body text) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(null::public.retreat_applications, false);
  unknown text;
begin
  perform private.check_text(subject, body);
  if occasion = 'received' then answers := '{"first_name": ""}'; end if;
  if private.may_ask(occasion) then answers := answers || '{"answer_link": "", "reply_by": ""}'; end if;
  select min(name) into unknown
    from unnest((private.fill(subject, answers)).unknown || (private.fill(body, answers)).unknown) as name;
  if unknown is not null then
    raise exception 'There is no placeholder %.', case unknown when '{{' then 'that begins or ends like this: {{ }}'
      else '{{' || unknown || '}}' || case
        when occasion = 'received' then ' in a receipt'
        when unknown in ('answer_link', 'reply_by') then ' in a letter to who is not accepted'
        else '' end end
      using errcode = '22023';
  end if;
end
$$;

drop function public.desk_preview(text, text, uuid, text);

-- A text filled in for one application; for the newest one where none is named, null where there is none.
create function public.desk_preview(
  subject text, body text, application uuid default null, occasion text default null, site text default null
) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_site(site);
  return private.example(occasion, subject, body, application, me.blind, site);
end
$$;

revoke all on function public.desk_preview(text, text, uuid, text, text) from public, anon, authenticated;
grant execute on function public.desk_preview(text, text, uuid, text, text) to authenticated;

-- Removes a template that organisers made, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
begin
  if occasion in ('received', 'reminder') or private.is_decision(occasion) then
    raise exception 'The templates of the receipt, the decisions and the reminder stay.' using errcode = '22023';
  end if;
  delete from private.templates as template
    where template.occasion = desk_remove_template.occasion and template.version = desk_remove_template.version;
  if not found then
    if exists (select from private.templates as template where template.occasion = desk_remove_template.occasion) then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return jsonb_build_object('removed', false);
  end if;
  drafts := array(
    select id from private.letters as letter
    where letter.occasion = desk_remove_template.occasion and state = 'draft'
  );
  perform private.lock_letters(drafts);
  perform private.move(array(
    select id from private.letters where id = any (drafts) and state = 'draft'
  ), 'withdrawn', author => me.email);
  perform private.write_down_letters(me.email, jsonb_build_object('removed', occasion));
  return jsonb_build_object('removed', true);
end
$$;

-- Makes the draft of an occasion, unless there is one, or a letter that has left or is to leave. One that was withdrawn
-- before it was released comes back as it was. `again`: also where it was sent before.
create or replace function private.draft(application uuid, occasion text, again boolean default false) returns uuid
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

-- A letter as it would be sent, or was. A draft's `seen` tells its text from others, by which whoever releases it says
-- what they read: of the template's text, which all organisers may read, a digest; of another, which may name somebody,
-- a number.
create or replace function private.letter_text(letter private.letters, blind boolean) returns jsonb
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

-- How it stands with the letters: whom a decision waits for, what does not arrive, and whether anybody carries them.
-- Counted up to a thousand, as applications are.
create or replace function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', seen_at > now() - interval '1 minute',
        'is_automation_there', automation_seen_at > now() - interval '1 minute', 'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and check_wanted_at > now() - interval '1 minute',
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined,reminder}', occasion), occasion)
        from private.templates as template
      ),
      -- Drafts that somebody wrote to one person.
      'personal', (
        select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
        from (select from private.letters where state = 'draft' and occasion = '' limit 1001) as counted
      ),
      -- What was released and can still be stopped, by its act.
      'leaving', (
        select coalesce(jsonb_agg(to_jsonb(leaving) order by seconds), '[]')
        from (
          select act, count(distinct application_id), ceil(extract(epoch from max(due_at) - now()))::integer as seconds
          from private.letters
          where way in ('mail', 'automation') and state = 'waiting' and due_at > now() and attempts = 0
            and act is not null
          group by act
        ) as leaving
      ),
      'states', (
        select jsonb_object_agg(name, jsonb_build_object('count', least(count, 1000), 'more', count > 1000))
        from (values
          ('waiting', (select count(*) from (
            select from private.letters where state in ('waiting', 'sending') limit 1001) as counted)),
          ('refused', (select count(*) from (
            select from private.letters where state = 'refused' limit 1001) as counted)),
          ('given up', (select count(*) from (
            select from private.letters where state = 'given up' limit 1001) as counted))
        ) as counts (name, count)
      )
    )
    from private.postman
  );
end
$$;

-- Refuses what is no letter to one person.
create or replace function private.check_letter(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  perform private.check_text(subject, body);
  -- It is sent as it stands, but for the link and the day, which are known when it is handed over.
  if regexp_replace(subject || body, '\{\{\s*(answer_link|reply_by)\s*\}\}', '', 'g') ~ '\{\{|\}\}' then
    raise exception 'In a letter to one person there are no placeholders but {{answer_link}} and {{reply_by}}: write what is to stand there.'
      using errcode = '22023';
  end if;
end
$$;

-- Releases drafts, an array of {id, seen}: they leave when a minute is over. More than thirty only by their number,
-- what was sent before only by `again`. What comes back says of each what became of it: released, changed (since it
-- was read), missing (an answer that it quotes is blank), long (filled in it is longer than a letter may be), again, or
-- gone. The same act again changes nothing.
create or replace function public.desk_release(
  act uuid, letters jsonb, number integer default null, again boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sent record;
  letter private.letters;
  standing record;
  text jsonb;
  outcome text;
  outcomes jsonb := jsonb_build_array();
  is_postman_there boolean;
  is_automation_there boolean;
begin
  select seen_at > now() - interval '1 minute', automation_seen_at > now() - interval '1 minute'
    into is_postman_there, is_automation_there from private.postman;
  if jsonb_array_length(letters) > 1000 then
    raise exception 'At most 1,000 letters are released at once.' using errcode = '22023';
  elsif jsonb_array_length(letters) > 30 and number is distinct from jsonb_array_length(letters) then
    raise exception 'The number does not match: these are % letters.', jsonb_array_length(letters)
      using errcode = '22023';
  elsif not (is_postman_there or is_automation_there) then
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  elsif not is_postman_there and exists (
    select from private.letters as draft
    where id in (select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one)
      and not private.is_decision(draft.occasion)
  ) then
    raise exception 'Only decisions are told to the automation, and no server with a mail server is at work.'
      using errcode = 'PT409';
  end if;
  -- Whoever decides meanwhile comes first, or withdraws what was released.
  perform private.lock_letters(array(select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one));
  for sent in
    select distinct on (draft.application_id, wanted.id) wanted.id, draft.application_id, wanted.seen
    from jsonb_to_recordset(letters) as wanted (id uuid, seen text) left join private.letters as draft using (id)
    order by draft.application_id, wanted.id
  loop
    select version, status into standing from private.statuses where application_id = sent.application_id;
    select * into letter from private.letters where id = sent.id;
    text := case when letter.id is not null then private.letter_text(letter, me.blind) end;
    outcome := case
      when letter.act = desk_release.act and letter.state in ('waiting', 'sending', 'sent') then 'released'
      when letter.state is distinct from 'draft' then 'gone'
      when private.is_decision(letter.occasion) and letter.occasion is distinct from standing.status then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when letter.edition > 1 and letter.occasion not in ('', 'reminder') and not coalesce(again, false) then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      update private.letters set subject = text ->> 'subject', body = text ->> 'body',
        from_template = letter.subject is null, way = case when is_postman_there then 'mail' else 'automation' end,
        author = me.email, act = desk_release.act, status_version = coalesce(standing.version, 0), released_at = now()
        where id = letter.id;
      perform private.move(array[letter.id], 'waiting', due => now() + (select hold from private.letter_settings));
      if is_postman_there and is_automation_there and private.is_decision(letter.occasion) then
        insert into private.letters (application_id, occasion, edition, way, state, subject, body, author, act,
            status_version, released_at, due_at)
          select application_id, released.occasion, edition, 'automation', state, subject, body, author, released.act,
            status_version, released_at, due_at
          from private.letters as released where id = letter.id
          on conflict do nothing;
      end if;
      perform private.withdraw_receipt(letter.application_id);
      outcome := 'released';
    end if;
    outcomes := outcomes || jsonb_build_object('id', sent.id, 'application', sent.application_id, 'outcome', outcome);
  end loop;
  return outcomes;
end
$$;

-- Tells of what an applicant answered by this act, which counts for more.
create function private.write_answer_notices(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.write_notices(null, id) from private.history
    where application_id = application and history.act = write_answer_notices.act;
exception when others then
  raise log 'An answer was stored without notices (SQLSTATE %).', sqlstate;
end
$$;

revoke all on function private.write_answer_notices(uuid, uuid) from public, anon, authenticated;

drop function public.desk_send_test(text, text, uuid, text, uuid);

-- Sends a text to whoever calls, filled in for an application as it would be for its applicant. The same act again
-- sends nothing more.
create function public.desk_send_test(
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
  if not exists (select from private.postman where seen_at > now() - interval '1 minute') then
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
  if exists (select from private.notices as test where id = act and organiser_id = auth.uid()) then
    return jsonb_build_object('to', me.email);
  elsif (
    select count(*) from private.notices as test
    where organiser_id = auth.uid() and test.body is not null
      and created_at > now() - interval '1 hour' and created_at <= clock_timestamp()
  ) >= 20 then
    raise exception 'At most twenty tests an hour.' using errcode = 'PT429';
  end if;
  insert into private.notices (id, organiser_id, example_id, subject, body)
    values (coalesce(act, gen_random_uuid()), auth.uid(), (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;

revoke all on function public.desk_send_test(text, text, uuid, text, uuid, text) from public, anon, authenticated;
grant execute on function public.desk_send_test(text, text, uuid, text, uuid, text) to authenticated;

-- Queues answers while a server was at work within a day that tells an automation.
create function private.enqueue_answer() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.answer_outbox (answer_id, application_id)
    select new.id, new.application_id from private.postman where automation_seen_at > now() - interval '1 day';
  return null;
end
$$;

revoke all on function private.enqueue_answer() from public, anon, authenticated;

-- How it stands with an answer; null where nobody is asked. `late` is `no answer` whose day is over.
create function private.answer_state(
  is_accepted boolean, told_at timestamptz, kept_until date, answer text, today date
) returns text
  language sql immutable
  return case
    when not is_accepted then null
    when answer is not null then answer
    when told_at is null then 'not told'
    when kept_until < today then 'late'
    else 'no answer'
  end;

revoke all on function private.answer_state(boolean, timestamp with time zone, date, text, date) from public, anon, authenticated;

-- How it stands with the answer of an application: {answer_state, answer, answered_at, kept_until}, all null where nobody is
-- asked.
create function private.answer_shown(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return coalesce((
    select jsonb_build_object(
      'answer_state', private.answer_state(is_accepted, told_at, kept_until, answer, private.today()),
      'answer', answer, 'answered_at', answered_at, 'kept_until', kept_until)
    from private.acceptances where application_id = application and is_accepted
  ), '{"answer_state": null, "answer": null, "answered_at": null, "kept_until": null}');
end
$$;

revoke all on function private.answer_shown(uuid) from public, anon, authenticated;

-- Whether an application is one of those with an answer, or without: who is late has given none.
create function private.has_answer(application uuid, wanted text, today date) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from private.acceptances
    where application_id = application and private.answer_state(is_accepted, told_at, kept_until, answer, today) in (
      wanted, case when wanted = 'no answer' then 'late' end)
  );
end
$$;

revoke all on function private.has_answer(uuid, text, date) from public, anon, authenticated;

-- The time zone in which days end, unless there is one: whoever comes first says theirs, if PostgreSQL knows it.
create function private.adopt_zone(zone text) returns void
  language plpgsql set search_path = ''
as $$
begin
  if exists (select from private.places where places.zone is null) then
    perform now() at time zone adopt_zone.zone;
    update private.places set zone = adopt_zone.zone where places.zone is null;
  end if;
exception when invalid_parameter_value then null;
end
$$;

revoke all on function private.adopt_zone(text) from public, anon, authenticated;

-- What a server knows: where the site is, where its mails come from, and its time zone. Another server may know what it
-- does not.
create function private.know_site(site text, sender text, zone text) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.adopt_zone(zone);
  update private.places set
      site = coalesce(nullif(know_site.site, ''), places.site),
      sender = coalesce(nullif(know_site.sender, ''), places.sender)
    where (places.site, places.sender) is distinct from (
      coalesce(nullif(know_site.site, ''), places.site), coalesce(nullif(know_site.sender, ''), places.sender));
end
$$;

revoke all on function private.know_site(text, text, text) from public, anon, authenticated;

-- Follows the decisions. Its name comes behind that of `redraft`: letters are locked before this.
create function private.keep_acceptance() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.status = 'accepted' then
    insert into private.acceptances (application_id, is_accepted) values (new.application_id, true)
      on conflict (application_id) do update set is_accepted = true;
  else
    update private.acceptances set is_accepted = false where application_id = new.application_id and is_accepted;
  end if;
  return null;
end
$$;

revoke all on function private.keep_acceptance() from public, anon, authenticated;

-- Follows the letters: who was told that they are accepted is asked from then on; who was told something else gets
-- another link when they are accepted again, and what they answered is over. What may have arrived was told.
create function private.follow_letter() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if not private.is_to_applicant(new) then
    return null;
  elsif private.is_decision(new.occasion) and new.occasion <> 'accepted' then
    update private.acceptances
      set token = gen_random_uuid(), told_at = null, kept_until = null, answer = null, answered_at = null
      where application_id = new.application_id
        and (told_at is not null or kept_until is not null or answer is not null);
  elsif new.occasion = 'accepted' or private.has_link(new.body) then
    update private.acceptances set
        told_at = now(), kept_until = coalesce(kept_until, private.today() + (select days from private.places))
      where application_id = new.application_id and told_at is null;
  end if;
  return null;
end
$$;

revoke all on function private.follow_letter() from public, anon, authenticated;

-- Whether a text has the link on which people answer, or the day; letters are kept with these placeholders.
create function private.has_link(given text) returns boolean
  language sql immutable set search_path = ''
  return given ~ '\{\{\s*answer_link\s*\}\}';

revoke all on function private.has_link(text) from public, anon, authenticated;

create function private.has_day(given text) returns boolean
  language sql immutable set search_path = ''
  return given ~ '\{\{\s*reply_by\s*\}\}';

revoke all on function private.has_day(text) from public, anon, authenticated;

-- A day as letters have it.
create function private.day_shown(day date) returns text
  language sql immutable set search_path = ''
  return to_char(day, 'FMDD FMMonth YYYY');

revoke all on function private.day_shown(date) from public, anon, authenticated;

-- What stands for the link and the day in a letter until it is handed over; blank where nobody is asked any more.
create function private.place_answers(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_asked boolean := exists (
    select from private.acceptances
    where application_id = application and is_accepted and coalesce(kept_until >= private.today(), true)
  );
begin
  return jsonb_build_object(
    'answer_link', case when is_asked then '{{answer_link}}' else '' end,
    'reply_by', case when is_asked then '{{reply_by}}' else '' end);
end
$$;

revoke all on function private.place_answers(uuid) from public, anon, authenticated;

-- Which of both a text has that is blank for an application.
create function private.missing_in(given text, application uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(name order by name), '[]') from jsonb_each_text(private.place_answers(application)) as answers (name, answer)
  where answer = '' and case name when 'reply_by' then private.has_day(given) else private.has_link(given) end
$$;

revoke all on function private.missing_in(text, uuid) from public, anon, authenticated;

-- A text with the link and the day in place. Where no site is known, the paragraphs with the link are left out.
create function private.with_place(given text, link text, day date) returns text
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
  return regexp_replace(given, '\{\{\s*reply_by\s*\}\}', private.day_shown(day), 'g');
end
$$;

revoke all on function private.with_place(text, text, date) from public, anon, authenticated;

-- Subject and body of a letter as it is handed over, and the link in it.
create function private.to_send(
  application uuid, inout subject text, inout body text, site text default null, out link text
)
  language plpgsql set search_path = ''
as $$
declare
  place record;
begin
  if private.has_link(subject || body) or private.has_day(subject || body) then
    place := private.keep_place(application, site);
    link := place.link;
    subject := private.with_place(subject, coalesce(place.link, ''), place.kept_until);
    body := private.with_place(body, place.link, place.kept_until);
  end if;
end
$$;

revoke all on function private.to_send(uuid, text, text, text) from public, anon, authenticated;

-- Sets an answer, null for none, once for each act. Whoever calls has locked the application. The newest counts, and all
-- are kept. Who has answered is reminded no more.
create function private.set_answer(application uuid, act uuid, author text, answer text) returns void
  language plpgsql set search_path = ''
as $$
declare
  is_repeat boolean := exists (
    select from private.history where application_id = application and history.act = set_answer.act
  );
begin
  if not is_repeat and exists (
    select from private.acceptances as acceptance
    where application_id = application and acceptance.answer is not distinct from set_answer.answer
  ) then
    return;
  end if;
  perform private.write_down(application, act, author, 'answer', jsonb_build_object('answer', answer));
  if is_repeat then return; end if;
  if answer is not null then
    perform private.move(array(
      select id from private.letters
      where application_id = application and occasion = 'reminder' and state in ('draft', 'waiting')
    ), 'withdrawn');
  end if;
  update private.acceptances as acceptance
    set answer = set_answer.answer, answered_at = case when set_answer.answer is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_answer_notices(application, act);
  end if;
end
$$;

revoke all on function private.set_answer(uuid, uuid, text, text) from public, anon, authenticated;

-- What whoever has a link may know: {"state": "open", "first_name", "until", "answer"}, once the day is over
-- {"state": "over", ..., "address": where answers go}, and of what is no link, or none any more, {"state": "invalid"}.
create function public.place_by_token(token text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  application uuid := private.accepted_by(token);
begin
  if application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  return (
    select jsonb_build_object(
      'state', case when until < private.today() then 'over' else 'open' end,
      'first_name', left(btrim(first_name, E' \t\r\n'), 200), 'until', until, 'answer', answer
    ) || case when until < private.today() then jsonb_build_object(
      'address', coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender)) else '{}' end
    from private.acceptances as acceptance
      join public.retreat_applications as given on given.id = application_id
      cross join private.places
      cross join lateral (select coalesce(kept_until, private.today() + places.days) as until) as kept
    where application_id = application
  );
end
$$;

revoke all on function public.place_by_token(text) from public, anon, authenticated;
grant execute on function public.place_by_token(text) to anon, authenticated;

-- Answers as whoever has the link: `coming`, or `not coming`. The same act again is the same answer. What comes back is how
-- it stands then; nothing is kept where the day is over.
create function public.answer_place(token text, answer text, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.accepted_by(token);
begin
  if act is null or answer is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming" or "not coming", and has an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- As it stands now that nobody decides meanwhile.
  if private.accepted_by(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif public.place_by_token(token) ->> 'state' = 'open' then
    if (
      select count(*) from private.history
      where application_id = application and kind = 'answer' and author = 'applicant'
        and at > now() - interval '1 hour' and at <= clock_timestamp()
    ) >= 20 then
      raise exception 'This answer was changed too often. Please try again in an hour.' using errcode = 'PT429';
    end if;
    perform private.set_answer(application, act, 'applicant', answer);
  end if;
  return public.place_by_token(token);
end
$$;

revoke all on function public.answer_place(text, text, uuid) from public, anon, authenticated;
grant execute on function public.answer_place(text, text, uuid) to anon, authenticated;

-- How it stands with the places, and who waits for one: {places, days, zone, site, today, coming, not_coming, no_answer,
-- late, not_told, free, waitlist}. `late` is a part of `no_answer`; `free` is null where nobody said how many there are,
-- and less than none where more were accepted.
create function public.desk_places(zone text default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  today date;
begin
  if desk_places.zone is not null then
    perform private.adopt_zone(desk_places.zone);
  end if;
  -- Once, and not for each of them.
  today := private.today();
  return (
    with counted as (
      select count(*) filter (where state = 'coming') as coming,
        count(*) filter (where state = 'not coming') as not_coming,
        count(*) filter (where state in ('no answer', 'late')) as no_answer,
        count(*) filter (where state = 'late') as late,
        count(*) filter (where state = 'not told') as not_told
      from (
        select private.answer_state(is_accepted, told_at, kept_until, answer, today) as state
        from private.acceptances
        where is_accepted
      ) as answers
    )
    select to_jsonb(counted) || jsonb_build_object(
      'version', version, 'places', places, 'days', days, 'zone', coalesce(kept.zone, 'UTC'), 'site', site,
      'today', today, 'free', places - coming - no_answer - not_told,
      'waitlist', (
        select coalesce(jsonb_agg(
          jsonb_build_object('set_at', set_at) || private.beginnings(private.shown(application, me.blind))
          order by set_at, id), '[]')
        from (
          select application_id, set_at from private.statuses
          where status = 'waitlisted' order by set_at, application_id limit 20
        ) as waiting join public.retreat_applications as application on id = application_id
      ))
    from private.places as kept, counted
  );
end
$$;

revoke all on function public.desk_places(text) from public, anon, authenticated;
grant execute on function public.desk_places(text) to authenticated;

-- Refuses what concerns only who is accepted. Locks the application.
create function private.lock_acceptance(application uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  perform from private.acceptances where application_id = application and is_accepted;
  if not found then
    raise exception 'This application is not accepted any more.' using errcode = 'PT409';
  end if;
end
$$;

revoke all on function private.lock_acceptance(uuid) from public, anon, authenticated;

-- Notes what somebody answered otherwise than on the page: `coming`, `not coming`, or null for no answer.
create function public.desk_set_answer(act uuid, application uuid, answer text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming", "not coming" or none, and has an id.' using errcode = '22023';
  end if;
  perform private.lock_acceptance(application);
  perform private.set_answer(application, act, me.email, answer);
  return private.whole(application, me.blind);
end
$$;

revoke all on function public.desk_set_answer(uuid, uuid, text) from public, anon, authenticated;
grant execute on function public.desk_set_answer(uuid, uuid, text) to authenticated;

-- Moves the last day on which somebody can answer.
create function public.desk_keep_until(act uuid, application uuid, until date) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_repeat boolean := exists (
    select from private.history where application_id = application and history.act = desk_keep_until.act
  );
begin
  if act is null or until is null or until < private.today() or until > '9999-12-31' then
    raise exception 'A place is kept until today or a later day.' using errcode = '22023';
  end if;
  perform private.lock_acceptance(application);
  perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
  -- Not again, over what somebody set since.
  if not is_repeat then
    update private.acceptances set kept_until = until where application_id = application;
  end if;
  return private.whole(application, me.blind);
end
$$;

revoke all on function public.desk_keep_until(uuid, uuid, date) from public, anon, authenticated;
grant execute on function public.desk_keep_until(uuid, uuid, date) to authenticated;

-- Who is to be reminded, those whose day comes first, one more than a thousand at the most; how many have a reminder that did
-- not leave yet, and how many had one in the last three days.
create function private.to_remind(today date, out wanted uuid[], out waiting bigint, out reminded bigint)
  language plpgsql stable
  -- Of many that were just drafted PostgreSQL knows nothing, and would compare each with each.
  set search_path = '' set enable_nestloop = off
as $$
begin
  with asked as (
    select application_id, kept_until
    from private.acceptances
    where private.answer_state(is_accepted, told_at, kept_until, answer, today) in ('no answer', 'late')
  ), reminders as materialized (
    select application_id, bool_or(state not in ('sent', 'withdrawn')) as is_waiting
    from private.letters
    where occasion = 'reminder' and (
      state not in ('sent', 'withdrawn') or sent_at > now() - interval '3 days' and sent_at <= clock_timestamp()
    )
    group by 1
  ), known as (
    select asked.application_id, kept_until, is_waiting from asked left join reminders using (application_id)
  )
  select array(
      select application_id from known where is_waiting is null order by kept_until, application_id limit 1001
    ),
    (select count(*) from known where is_waiting),
    (select count(*) from known where not is_waiting)
    into wanted, waiting, reminded;
end
$$;

revoke all on function private.to_remind(date) from public, anon, authenticated;

-- Drafts a reminder for who has not answered, those whose day comes first, at most a thousand at once: nobody is reminded
-- twice in three days. {drafted, late: those of them whose day has to be moved first, waiting: who has a reminder that did
-- not leave yet, reminded: who had one in the last three days, more}.
create function public.desk_remind() returns jsonb
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
    select application_id from private.acceptances
    where application_id = any (found.wanted[:1000])
      and private.answer_state(is_accepted, told_at, kept_until, answer, today) in ('no answer', 'late')
    order by application_id
  loop
    if private.draft(application, 'reminder', true) is not null then drafted := drafted || application; end if;
  end loop;
  return jsonb_build_object(
    'drafted', cardinality(drafted),
    'late', (
      select count(*) from private.acceptances
      where application_id = any (drafted) and kept_until < today
    ),
    'waiting', found.waiting, 'reminded', found.reminded, 'more', cardinality(found.wanted) > 1000
  );
end
$$;

revoke all on function public.desk_remind() from public, anon, authenticated;
grant execute on function public.desk_remind() to authenticated;

-- Whether somebody was sent a reminder in the last three days.
create function private.is_reminded(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.letters
    where application_id = application and occasion = 'reminder' and state = 'sent'
      and sent_at > now() - interval '3 days' and sent_at <= clock_timestamp()
  )
$$;

revoke all on function private.is_reminded(uuid) from public, anon, authenticated;

-- Refuses what is no address of a site.
create function private.check_site(site text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(site, '') !~ '^(https?://[^\s<>"\\{}#?]+[^\s<>"\\{}#?/])?$' then
    raise exception 'This is no address of a site.' using errcode = '22023';
  end if;
end
$$;

revoke all on function private.check_site(text) from public, anon, authenticated;

-- A draft as an organiser's own mail program sends it, with the link of whom it goes to, which the history says. Where no
-- server knows where the site is, the desk does. The same act again says the same.
create function public.desk_hand_over(act uuid, letter uuid, seen text, site text default null, zone text default null)
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
  if draft.state is distinct from 'draft' or text ->> 'seen' <> seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif text -> 'missing' <> '[]' then
    raise exception 'This letter quotes what is blank.' using errcode = '22023';
  end if;
  if private.has_link(text ->> 'body') then
    perform private.write_down(draft.application_id, act, me.email, 'link', jsonb_build_object('occasion', draft.occasion));
  end if;
  if zone is not null then perform private.adopt_zone(zone); end if;
  sent := private.to_send(draft.application_id, text ->> 'subject', text ->> 'body', site);
  return jsonb_build_object('subject', sent.subject, 'body', sent.body);
end
$$;

revoke all on function public.desk_hand_over(uuid, uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.desk_hand_over(uuid, uuid, text, text, text) to authenticated;

-- Keeps a place from now on, for somebody whose letter is handed over: their link, null where no site is known, and the
-- day. As long as nobody was told and no organiser set a day, it is counted from the last letter that was begun.
create function private.keep_place(application uuid, site text default null, out link text, out kept_until date)
  language plpgsql set search_path = ''
as $$
declare
  settings private.places;
  counted date;
begin
  select * into settings from private.places;
  counted := private.today() + settings.days;
  update private.acceptances as acceptance set kept_until = case
      when told_at is null and not exists (
        select from private.history where application_id = application and kind = 'kept'
      ) then greatest(acceptance.kept_until, counted)
      else coalesce(acceptance.kept_until, counted)
    end
    where application_id = application and is_accepted
    returning coalesce(nullif(settings.site, ''), nullif(keep_place.site, '')) || '/answer/#' || token,
      acceptance.kept_until
    into link, kept_until;
end
$$;

revoke all on function private.keep_place(uuid, text) from public, anon, authenticated;

-- Says how many places there are, null for nobody knows, and how long each is kept.
create function public.desk_set_places(version integer, places integer, days integer) returns jsonb
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
  if former.version = desk_set_places.version then
    update private.places as kept set
      version = former.version + 1, places = desk_set_places.places, days = desk_set_places.days;
    if (former.places, former.days) is distinct from (desk_set_places.places, desk_set_places.days) then
      insert into private.history (author, kind, detail)
        values (me.email, 'places', jsonb_build_object('places', places, 'days', days));
    end if;
  elsif former.version is distinct from desk_set_places.version + 1
    or (former.places, former.days) is distinct from (desk_set_places.places, desk_set_places.days)
  then
    -- Not sent again because its answer was lost.
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return public.desk_places();
end
$$;

revoke all on function public.desk_set_places(integer, integer, integer) from public, anon, authenticated;
grant execute on function public.desk_set_places(integer, integer, integer) to authenticated;

create trigger then_accept_first after insert on private.statuses
  for each row when (new.status = 'accepted') execute function private.keep_acceptance();
create trigger then_accept after update of status on private.statuses
  for each row when ((old.status = 'accepted') <> (new.status = 'accepted')) execute function private.keep_acceptance();

create trigger follow_letter after update of state, uncertain on private.letters
  for each row when (new.state = 'sent' and old.state <> 'sent' or new.uncertain > old.uncertain)
  execute function private.follow_letter();

create trigger enqueue_answer after insert on private.history
  for each row when (new.kind = 'answer') execute function private.enqueue_answer();

-- What databases and backups of before lack: since when a status stands, and acceptances. Who was accepted then has a link
-- once they are written to.
create function private.fill_in_acceptances() returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.statuses as standing set set_at = decided.at
    from (select application_id, max(at) as at from private.history where kind = 'status' group by 1) as decided
    where decided.application_id = standing.application_id;
  insert into private.acceptances (application_id, is_accepted, told_at)
    select application_id, coalesce(status = 'accepted', false), case when told.occasion = 'accepted' then told.at end
    from private.statuses full join (
      select distinct on (application_id) application_id, occasion, coalesce(sent_at, withdrawn_at, released_at) as at
      from private.letters as letter
      where (state = 'sent' or uncertain > 0) and private.is_decision(occasion) and private.is_to_applicant(letter)
      order by application_id, 3 desc
    ) as told using (application_id)
    where status = 'accepted' or told.occasion = 'accepted'
    on conflict do nothing;
end
$$;

revoke all on function private.fill_in_acceptances() from public, anon, authenticated;
select private.fill_in_acceptances();

-- What organisers wrote themselves stays as it is.
update private.templates set body = 'Hello {{first_name}},

we would love to have you with us: your application to Unplugged. is accepted.

We keep your place until {{reply_by}}. Please tell us by then whether you are coming.

You can say so here: {{answer_link}}

Or just answer this letter.

The organisers of Unplugged.'
  where occasion = 'accepted' and body = 'Hello {{first_name}},

we would love to have you with us: your application to Unplugged. is accepted.

Please answer this letter to confirm that you are coming.

The organisers of Unplugged.';
insert into private.templates (occasion, subject, body) values
  ('reminder', 'Are you coming to Unplugged?', 'Hello {{first_name}},

we have not heard from you yet: are you coming to Unplugged.? We keep your place until {{reply_by}}.

You can say so here: {{answer_link}}

Or just answer this letter.

The organisers of Unplugged.')
  on conflict do nothing;
