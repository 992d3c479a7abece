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
        update private.statuses set status = decision.status, version = standing.version + 1
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
    counts := counts || jsonb_build_object(each_status, jsonb_build_object(
      'count', least(counted, 1000), 'more', counted > 1000));
  end loop;
  select count(*) into counted
    from (select from public.retreat_applications limit decided + 1001) as application;
  if decided <= 20000 then
    -- New is what is left.
    new_ones := jsonb_build_object('count', least(counted - decided, 1000), 'more', counted - decided > 1000);
  else
    -- More than are counted here. So many of the newest are new, at the least.
    sample := private.find('{"status": "new"}', null, 1000, 1000, blind);
    new_ones := jsonb_build_object('count', cardinality(sample.ids), 'more', sample.next is not null);
  end if;
  return counts || jsonb_build_object(
    'new', new_ones, 'all', jsonb_build_object('count', least(counted, 1000), 'more', counted > 1000)
  );
end
$$;

-- How the door stands, and what happened to it and to no application: who opened, closed, erased.
create or replace function public.desk_door() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.door_state() || jsonb_build_object('history', (
    select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', author, 'kind', kind, 'detail', detail)), '[]')
    from (select * from private.history where application_id is null order by id desc limit 50) as newest
  ));
end
$$;

-- {"is_open": true}, or {"is_open": false, "sentence": what whoever applies now is told}. Nothing else of the door is a
-- visitor's to know.
create or replace function public.door_is_open() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  state jsonb := private.door_state();
begin
  if (state ->> 'is_open')::boolean then
    return jsonb_build_object('is_open', true);
  end if;
  return jsonb_build_object(
    'is_open', false, 'sentence', coalesce(nullif(left(state ->> 'sentence', 300), ''), 'Applications are closed.')
  );
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
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined}', occasion), occasion)
        from private.templates as template
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

-- What became of the letters of some applications, without their texts.
create or replace function public.desk_letter_states(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state, 'answer', case when state = 'sent' then answer else '' end) order by created_at, id), '[]')
    from private.letters
    where application_id = any (applications) and state not in ('draft', 'withdrawn')
  );
end
$$;

-- Drafts letters of an occasion; `again` also where one was sent. What comes back says of each what became of it:
-- drafted, written (there is a draft or a letter, in this state), undecided (another decision stands) or gone.
create or replace function public.desk_write(applications uuid[], occasion text, again boolean default false) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid;
  standing text;
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
      select status into standing from private.statuses where application_id = application;
      outcome := case
        when occasion in ('accepted', 'waitlisted', 'declined') and occasion is distinct from standing then 'undecided'
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
  decisions constant text[] := array['accepted', 'waitlisted', 'declined'];
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
      and draft.occasion <> all (decisions)
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
      when letter.occasion = any (decisions) and letter.occasion is distinct from standing.status then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when letter.edition > 1 and not coalesce(again, false) then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      update private.letters set state = 'waiting', subject = text ->> 'subject', body = text ->> 'body',
        from_template = letter.subject is null, way = case when is_postman_there then 'mail' else 'automation' end,
        author = me.email, act = desk_release.act, status_version = coalesce(standing.version, 0),
        released_at = now(), due_at = now() + (select hold from private.letter_settings)
        where id = letter.id;
      if is_postman_there and is_automation_there and letter.occasion = any (decisions) then
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

-- Lets letters leave that were refused or given up, for the decision that stands.
create or replace function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  return jsonb_build_object('retried', private.retry(letters));
end
$$;

-- Switches notices on or off. The day's mail comes at the time of day at which they were switched on.
create or replace function public.desk_set_notices(notices text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  if desk_set_notices.notices is null or desk_set_notices.notices not in ('off', 'each', 'daily') then
    raise exception 'Notices are off, each or daily.' using errcode = '22023';
  end if;
  update private.organisers as organiser set notices = desk_set_notices.notices,
    told_until = case organiser.notices when 'off' then now() else told_until end,
    day_due_at = case organiser.notices when 'off' then now() + interval '1 day' else day_due_at end
    where account_id = auth.uid() and organiser.notices <> desk_set_notices.notices;
  return public.desk_notices();
end
$$;
