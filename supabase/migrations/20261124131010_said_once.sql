-- So many, counted to a thousand and no further.
create function private.up_to_thousand(counted bigint) returns jsonb
  language sql immutable parallel safe
  return jsonb_build_object('count', least(counted, 1000), 'more', counted > 1000);

revoke all on function private.up_to_thousand(bigint) from public, anon, authenticated;

-- How many there are in each status, up to a thousand: {"accepted": {"count": 12, "more": false}, ...}.
create or replace function private.counts(filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  statuses text[] := array['new', 'shortlisted', 'accepted', 'waitlisted', 'declined'];
  counts jsonb := jsonb_build_object();
  each_status text;
  counted integer;
  decided integer := 0;
  sample record;
  new_ones jsonb;
begin
  if filter <> '{}' then
    sample := private.find(filter, null, 1000, 1000, blind);
    return (
      select jsonb_object_agg(name, jsonb_build_object('count', coalesce(count, 0), 'more', sample.next is not null))
      from unnest(statuses || 'all'::text) as name left join (
        select coalesce(status, 'new') as name, count(*)
          from unnest(sample.ids) as hit (id) left join private.statuses on application_id = id group by 1
        union all select 'all', cardinality(sample.ids)
      ) as counted using (name)
    );
  end if;
  foreach each_status in array statuses[2:] loop
    select count(*) into counted
      from (select from private.statuses where status = each_status limit 20001) as of_status;
    decided := decided + counted;
    counts := counts || jsonb_build_object(each_status, private.up_to_thousand(counted));
  end loop;
  select count(*) into counted
    from (select from public.retreat_applications limit decided + 1001) as application;
  if decided <= 20000 then
    -- New is what is left.
    new_ones := private.up_to_thousand(counted - decided);
  else
    -- More than are counted here. So many of the newest are new, at the least.
    sample := private.find('{"status": "new"}', null, 1000, 1000, blind);
    new_ones := jsonb_build_object('count', cardinality(sample.ids), 'more', sample.next is not null);
  end if;
  return counts || jsonb_build_object('new', new_ones, 'all', private.up_to_thousand(counted));
end
$$;

-- For some applications: the status of each, whether the applicant comes, and whether the same e-mail applied again. It is one
-- query, since a call for each of a thousand would take longer than everything else.
create function private.summaries(applications uuid[], blind boolean) returns table (application_id uuid, summary jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    select application.id,
      jsonb_build_object(
        'status', coalesce(kept.status, 'new'),
        'version', coalesce(kept.version, 0),
        'same_email', not blind and exists (
          select from public.retreat_applications as other
          where private.person(other.email) = private.person(application.email) and other.id <> application.id
        )
      )
      -- Not called for the many who are not asked.
      || case when is_accepted then private.answer_shown(application.id) else private.no_answer() end
    from unnest(applications) as one (id)
      join public.retreat_applications as application using (id)
      left join private.statuses as kept on kept.application_id = application.id
      left join private.acceptances as acceptance on acceptance.application_id = application.id;
end
$$;

revoke all on function private.summaries(uuid[], boolean) from public, anon, authenticated;

-- One application with everything that is known of it.
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
        'detail', private.detail_shown(kind, detail, blind)) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', delivered_at, 'attempts', attempts, 'last_status', last_status,
        'next_attempt_at', next_attempt_at)
      from private.webhook_outbox where application_id = application
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

-- Fifty applications with the state of their letters, and where to go on. Answers are cut before anything else is done with
-- them, since they may be long.
create or replace function public.desk_list(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 50, 1000, me.blind);
begin
  return jsonb_build_object('next', found.next, 'letters', private.letter_states(found.ids), 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'created_at', created_at, 'team_size', team_size, 'paid_solution', paid_solution,
        'reason', split_part(translate(
          left(ltrim(left(reason, 2000), E' \t\r\n'), 200), E'\r', E'\n'), E'\n', 1))
        || case when me.blind then '{}' else jsonb_build_object('first_name', left(first_name, 200),
          'last_name', left(last_name, 200), 'email', left(email, 200), 'company', left(company, 200)) end
        || summary order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      join private.summaries(found.ids, me.blind) on application_id = id
  ));
end
$$;

-- Up to a thousand whole applications with what organisers did about them, fewer where they are long, and where to go on. As
-- json, which PostgreSQL puts together as text: as jsonb it would copy a megabyte twice.
create or replace function public.desk_export(filter jsonb default '{}', after jsonb default null) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind);
  fitting integer;
begin
  -- Up to 16 MB and what passes them: no array is longer than 256, and nobody waits for that long.
  select count(*) into fitting from (
    select coalesce(sum(
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

-- Erases applications of one e-mail for good, with all that is known of them. Only that it happened stays.
create or replace function public.desk_erase(applications uuid[], email text, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  erased integer;
begin
  -- In the order in which they are decided.
  perform from public.retreat_applications where id = any (applications) order by id for update;
  select (detail ->> 'applications')::integer into erased from private.history
    where application_id is null and history.act = desk_erase.act and kind = 'erased' and author = me.email;
  if found then
    return jsonb_build_object('erased', erased);
  end if;
  if exists (
    select from public.retreat_applications as application
    where id = any (applications)
      and private.person(application.email) is distinct from private.person(desk_erase.email)
  ) then
    raise exception 'This is not the e-mail of this application. Nothing was erased.' using errcode = '22023';
  end if;
  delete from public.retreat_applications as application
    where id = any (applications) and private.person(application.email) = private.person(desk_erase.email);
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (act, author, kind, detail) values (
      coalesce(desk_erase.act, gen_random_uuid()), me.email, 'erased', jsonb_build_object('applications', erased)
    );
  end if;
  return jsonb_build_object('erased', erased);
end
$$;

-- Whether a letter may ask whether its reader comes. Letters about other decisions may not.
create or replace function private.may_ask(occasion text) returns boolean
  language sql immutable
  return coalesce(occasion, '') = 'accepted'
    or coalesce(occasion, '') <> 'received' and not private.is_decision(coalesce(occasion, ''));

-- Whether something was in the last minute: who was heard of then is at work, and what was wanted then is waited for.
create function private.is_recent(moment timestamptz) returns boolean
  language sql stable
  return moment > now() - interval '1 minute';

revoke all on function private.is_recent(timestamp with time zone) from public, anon, authenticated;

-- Lets letters leave that were refused or given up, for the decision that stands; no receipt that is older than a day, and no
-- reminder that names a day which is over, until an organiser moves that day. What comes back counts those that are on
-- their way, or arrived.
create or replace function private.retry(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.move(array(
    select id from private.letters as letter
    where id = any (wanted) and state in ('refused', 'given up')
      and (occasion <> 'received' or released_at > private.receipts_since())
      and not private.is_overdue(letter)
  ), 'waiting', due => now());
  return (select count(*) from private.letters where id = any (wanted) and state in ('waiting', 'sending', 'sent'));
end
$$;

-- The state of all letters: who waits for a letter, what did not arrive, and whether a server sends them. Counted up to a
-- thousand, as applications are.
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
        'is_there', private.is_recent(seen_at), 'is_automation_there', private.is_recent(automation_seen_at),
        'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and private.is_recent(check_wanted_at),
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select private.up_to_thousand(count(*))
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined,reminder}', occasion), occasion)
        from private.templates as template
      ),
      -- Drafts that somebody wrote to one person.
      'personal', (
        select private.up_to_thousand(count(*))
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
        select jsonb_object_agg(name, private.up_to_thousand(count))
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

-- Drafts letters of an occasion; with `again` also where one was sent. The result has the outcome of each: drafted, written
-- (there is a draft or a letter, in this state), undecided (another decision stands) or gone.
create or replace function public.desk_write(applications uuid[], occasion text, again boolean default false) returns jsonb
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
    raise exception 'A receipt goes by itself, and to nobody else.' using errcode = '22023';
  end if;
  -- Whoever removes it waits, and takes these drafts away too.
  perform from private.templates as template where template.occasion = desk_write.occasion for key share;
  if not found then
    raise exception 'There is no template of this name.' using errcode = '22023';
  end if;
  perform private.lock_for_letters(applications);
  for application in select distinct unnest(applications) as id order by id loop
    perform from public.retreat_applications where id = application;
    outcome := case when not found then 'gone' end;
    if outcome is null then
      select status into status_now from private.statuses where application_id = application;
      outcome := case
        when private.is_decision(occasion) and occasion is distinct from status_now then 'undecided'
        when private.draft(application, occasion, coalesce(again, false)) is null then 'written'
        else 'drafted'
      end;
    end if;
    outcomes := outcomes || jsonb_build_object('application', application, 'outcome', outcome,
      'state', case outcome when 'written' then (
        select state from private.letters as letter
        where application_id = application and letter.occasion = desk_write.occasion and state <> 'withdrawn'
          and private.is_to_applicant(letter)
        -- What stands in the way of another one comes before what was sent.
        order by state = 'sent' limit 1
      ) end);
  end loop;
  return outcomes;
end
$$;

-- Releases drafts, an array of {id, seen}: they leave after a minute. More than thirty need their number, and letters that were
-- sent before need `again`. The result has the outcome of each: released, changed (since it was read), missing (an answer that
-- it quotes is blank), long (longer than a letter may be once it is filled in), again, or gone. The same act again changes
-- nothing. Where only an automation carries letters, what it was told beside a mail that was stopped was sent before, too.
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
  automated record;
  is_told boolean;
begin
  select private.is_recent(seen_at), private.is_recent(automation_seen_at)
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
    -- What an automation has of this edition, whose place the draft would take: beside a mail that was stopped.
    select id, state into automated from private.letters as beside
      where not is_postman_there and beside.application_id = letter.application_id and beside.occasion = letter.occasion
        and beside.edition = letter.edition and way = 'automation' and state <> 'withdrawn' and id <> letter.id;
    is_told := coalesce(automated.state not in ('refused', 'given up'), false);
    outcome := case
      when letter.act = desk_release.act and letter.state in ('waiting', 'sending', 'sent') then 'released'
      when letter.state is distinct from 'draft' then 'gone'
      when private.is_decision(letter.occasion) and letter.occasion is distinct from standing.status then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when (letter.edition > 1 and letter.occasion not in ('', 'reminder') or is_told) and not coalesce(again, false)
        then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      if is_told then
        letter.edition := (
          select max(edition) + 1 from private.letters as beside
          where beside.application_id = letter.application_id and beside.occasion = letter.occasion
            and way = 'automation' and state <> 'withdrawn'
        );
      elsif automated.id is not null then
        perform private.move(array[automated.id], 'withdrawn', author => me.email);
      end if;
      update private.letters set edition = letter.edition, subject = text ->> 'subject', body = text ->> 'body',
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

-- Notes that an organiser sent a draft from their own mail program.
create or replace function public.desk_sent_by_hand(letter uuid, seen text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  status_now text;
  text jsonb;
begin
  if me.blind then
    raise exception 'Who reads blind sends no letter by hand.' using errcode = '22023';
  end if;
  perform private.lock_letters(array[desk_sent_by_hand.letter]);
  select * into draft from private.letters where id = desk_sent_by_hand.letter;
  if draft.state = 'sent' and draft.otherwise = 'by hand' and draft.author = me.email then
    -- Sent again, because its answer was lost.
    return private.letters_shown(array[draft.id], false) -> 0;
  end if;
  select status into status_now from private.statuses where application_id = draft.application_id;
  text := private.letter_text(draft, false);
  if draft.state is distinct from 'draft' or text ->> 'seen' <> seen
    or (private.is_decision(draft.occasion) and draft.occasion is distinct from status_now)
  then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'Filled in, this letter is longer than a letter may be.' using errcode = '22023';
  end if;
  update private.letters set subject = text ->> 'subject', body = text ->> 'body', author = me.email,
    released_at = now(), otherwise = 'by hand', from_template = draft.subject is null where id = draft.id;
  perform private.move(array[draft.id], 'sent');
  perform private.withdraw_receipt(draft.application_id);
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

-- A receipt that was released before this moment is too old to leave.
create function private.receipts_since() returns timestamptz
  language sql stable
  return now() - interval '1 day';

revoke all on function private.receipts_since() from public, anon, authenticated;

-- Whether the caller gets mails about applications, and whether a server sends them.
create or replace function public.desk_notices() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('notices', notices, 'day_due_at', case when notices <> 'off' then day_due_at end,
      'email', me.email, 'is_postman_there', (select private.is_recent(seen_at) from private.postman))
    from private.organisers where account_id = auth.uid()
  );
end
$$;

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

-- The state of the places, and who waits for one: {places, days, zone, site, today, coming, not_coming, no_answer, late,
-- not_told, free, waitlist}. `late` is a part of `no_answer`. `free` is null where nobody said how many places there are, and
-- negative where more people were accepted.
create or replace function public.desk_places(zone text default null) returns jsonb
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
          jsonb_build_object('set_at', set_at) || private.beginnings(private.answers(application, me.blind) || summary)
          order by set_at, id), '[]')
        from (
          select application_id, set_at from private.statuses
          where status = 'waitlisted' order by set_at, application_id limit 20
        ) as waiting
          join public.retreat_applications as application on id = waiting.application_id
          cross join private.summaries(array[id], me.blind)
      ))
    from private.places as kept, counted
  );
end
$$;

-- Whether a reminder that was sent then is so recent that no other one follows: in the last three days. What is later than
-- now was sent before a clock was set back.
create function private.is_reminder_recent(sent_at timestamptz) returns boolean
  language sql stable
  return sent_at > now() - interval '3 days' and sent_at <= clock_timestamp();

revoke all on function private.is_reminder_recent(timestamp with time zone) from public, anon, authenticated;

-- The people to remind, those whose day comes first, at most a thousand and one; how many have a reminder that has not left
-- yet, and how many had one in the last three days.
create or replace function private.to_remind(today date, out wanted uuid[], out waiting bigint, out reminded bigint)
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
      state not in ('sent', 'withdrawn') or private.is_reminder_recent(sent_at)
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

-- Whether somebody was sent a reminder lately.
create or replace function private.is_reminded(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.letters
    where application_id = application and occasion = 'reminder' and state = 'sent'
      and private.is_reminder_recent(sent_at)
  )
$$;

drop function private.standings(uuid[], boolean);
