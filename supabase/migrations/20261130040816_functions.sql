-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.

-- Whether something happened within this span until now. A future time does not count: it was stored before the clock was set back.
-- It is volatile, as `clock_timestamp` is, so that PostgreSQL can inline it.
create or replace function private.happened_within(moment timestamptz, span interval) returns boolean
  language sql volatile parallel safe
  return moment >= now() - span and moment <= clock_timestamp();

revoke all on function private.happened_within(timestamp with time zone, interval) from public, anon, authenticated;

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
        select id, other.created_at, other.edition, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where private.person(email) = private.person(application_row.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
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

-- The number of applications of an edition that have a status, at most `most`.
create or replace function private.count_with_status(status text, edition integer, most integer) returns integer
  language sql stable set search_path = ''
as $$
  select count(*)::integer from (
    select from private.statuses as decided
    where decided.status = count_with_status.status and decided.edition = count_with_status.edition limit most
  ) as having_it
$$;

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
      counted := private.count_with_status(each_status, shown, 20001);
      decided := decided + counted;
      -- The last status is `aside`. `all` does not include it.
      aside_count := counted;
      counts := counts || jsonb_build_object(each_status, private.up_to_thousand(counted));
    end loop;
    select count(*) into counted from (
      select from public.retreat_applications as application
      where application.edition = shown limit decided + 1001
    ) as application;
    counts := counts || jsonb_build_object('all', private.up_to_thousand(counted - aside_count));
    if decided <= 20000 then
      counts := counts || jsonb_build_object('new', private.up_to_thousand(counted - decided));
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

-- Whether a reminder was sent in the last three days, so that it is too early for another.
create or replace function private.is_reminder_recent(sent_at timestamptz) returns boolean
  -- Strict, so that it costs nothing for people who got no reminder.
  language sql stable strict
  return private.happened_within(sent_at, '3 days');

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

-- Refuses more than twenty changes by an applicant in an hour, but no retry of an act. A future time does not count: the clock
-- was set back.
create or replace function private.refuse_too_many_changes(application uuid, act uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if (
    select count(*) from private.history
    where application_id = application and kind in ('answer', 'questions') and author = 'applicant'
      and private.happened_within(at, '1 hour')
  ) >= 20 and not exists (select from private.acts where acts.act = refuse_too_many_changes.act) then
    raise exception 'There were too many changes. Please try again in an hour.' using errcode = 'PT429';
  end if;
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
  -- Separate statements, so that they see what was committed before the lock was taken.
  perform from private.deliveries
    where mailbox = recipient and private.happened_within(queued_at, '1 day');
  if found then return; end if;
  perform from private.deliveries
    where domain = company and private.happened_within(queued_at, '1 day')
    offset case when is_provider then 999 else 19 end limit 1;
  if found then return; end if;
  select * into template from private.templates where kind = 'receipt';
  text := private.receipt(template.subject, template.body, application.first_name);
  insert into private.deliveries (kind, application_id, subject, body, mailbox, domain)
    values ('receipt', application.id, text ->> 'subject', text ->> 'body', recipient, company);
end
$$;

-- Whether this hour's limit allows another receipt or notice: a hundred, over all servers.
-- Its body is a text: PostgreSQL refuses a new column of a table whose row type a parsed body uses.
create or replace function private.has_room(postman private.postman) returns boolean
  language sql stable
as $$
  select postman.in_hour < 100 or not private.happened_within(postman.hour_began_at, '1 hour')
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
          not private.happened_within(row.hour_began_at, '1 hour') as is_new
      ) as hour
    );
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

-- Notifies the organisers who want an email for each application or RSVP. Beyond ten an hour, the daily email covers them.
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
    select author, at into last_change
      from private.history where application_id = decision.id and kind = 'status' order by id desc limit 1;
    if is_repeat then
      outcome := case when decision.status = current_status.status or exists (
        select from private.history where application_id = decision.id and history.act = desk_decide.act
      ) then 'kept' else 'stale' end;
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
        ) returning author, at into last_change;
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
          where state in ('no answer', 'late') and not is_reminded
            -- A subquery that PostgreSQL hashes: a join would take three times as long.
            and application_id not in (select private.with_unsent_letter('reminder'))
        ) as to_remind
      from (
        select application_id, private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) as state,
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
    from private.places as settings, counted, open_questions, lateral (
      select case when shown = max(id) then settings.places else max(editions.places) filter (where id = shown) end as seats
      from private.editions
    ) as known
  );
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
    from private.editions as shown where id = private.edition_in(jsonb_build_object('edition', desk_questions.edition))
  );
end
$$;

-- Drafts reminders for people of an edition, by default the newest: those without an RSVP, the earliest deadline first, and
-- guests with open questions. It drafts at most 1,000 of each at once. Nobody is reminded twice in three days. The result is
-- {drafted, questions, late, waiting, reminded, more}. `questions` counts the drafted ones about questions, and `late` those
-- whose deadline has to be moved first. `waiting` counts people with a reminder that is not sent yet, and `reminded` those who
-- got one in the last three days. Repeating the act drafts none and returns the first result. A desk of version 1.0 sends no
-- `act`.
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
      and private.happened_within(queued_at, '1 hour')
  ) >= 20 then
    raise exception 'At most twenty test emails an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (act, 'test', me.id, (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  update private.first_steps set ticked = ticked || '{test}' where not 'test' = any (ticked);
  return jsonb_build_object('to', me.email);
end
$$;

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
  insert into private.history (act, author, kind, detail)
    values (desk_begin_edition.act, me.email, 'edition', jsonb_build_object('edition', former.id + 1, 'name', desk_begin_edition.name));
  return public.desk_places();
end
$$;

-- The first steps: `done` has those that the database knows to be done, `ticked` those that organisers ticked.
-- `has_server`: whether a server of ours ever worked on this database. Otherwise a hosted project makes the backups.
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
        case when private.is_recent(seen_at) and failing_since is null then 'mail' end,
        case when door.version > 0 then 'door' end,
        case when private.is_shared() then 'colleagues' end,
        case when exists (
          select from auth.mfa_factors where user_id = me.id and status::text = 'verified'
        ) then 'factor' end,
        case when organisers.notices <> 'off' then 'notices' end,
        case when backed_up_at > now() - interval '2 days' then 'backups' end
      ], null),
      'ticked', ticked,
      'has_server', site <> '' or backed_up_at is not null or exists (select from private.visits)
    )
    from private.first_steps, private.places, private.postman, private.door, private.organisers, (
      select starts_on from private.editions order by id desc limit 1
    ) as newest
    where organisers.account_id = me.id
  );
end
$$;

revoke all on function public.desk_first_steps() from public, anon, authenticated;
grant execute on function public.desk_first_steps() to authenticated;

-- Ticks a first step, or unticks it, for all organisers.
create or replace function public.desk_tick_step(step text, is_done boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  if is_done is null then
    raise exception '“is_done” has to be true or false.' using errcode = '22023';
  elsif step is null or step <> all (
    '{days,mail,application,read,test,door,colleagues,factor,notices,backups,erased,shared}'
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

drop function if exists private.is_of(uuid, integer, boolean);
