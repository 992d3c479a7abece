-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.

-- An email with each label of its domain in ASCII, or as people read it. An index calls it with the rights of the applicant, who
-- may not use the schema of the functions in it.
create or replace function private.email_with_labels(email text, is_unicode boolean) returns text
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

-- Records a change of an organiser. If a server sends emails, it tells that organiser, unless they were removed or invited, and
-- everybody who may do everything. `detail`: the email (`organiser`), and what changed: `is_reader`, `is_removed`, or the account
-- that was `invited`.
create or replace function private.write_down_organiser(author text, detail jsonb) returns void
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

-- An organiser's name as it looks: without characters that show nothing. Names that look the same are the same.
create or replace function private.name_as_seen(name text) returns text
  language sql immutable set search_path = ''
  return lower(translate(normalize(name, nfkc), replace(private.blanks(), ' ', ''), '') collate "und-x-icu");

revoke all on function private.name_as_seen(text) from public, anon, authenticated;

-- Sets an organiser's name; a blank one removes it. Nobody gets the name of another organiser, an address, or a word that the
-- history uses for other authors. Of the characters that show nothing, only two joiners are allowed, which some scripts need.
create or replace function private.set_organiser_name(account uuid, name text) returns void
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

-- Subject and body of a letter that came back, as they were before `as_sent`. A deadline that an organiser moved since stays as the
-- letter said it, and so does any date if neither the letter nor its template has the placeholder.
create or replace function private.as_unsent(delivery private.deliveries, out subject text, out body text)
  language sql stable set search_path = ''
as $$
  select coalesce(regexp_replace(delivery.subject, day, '{{reply_by}}', 'g'), delivery.subject),
    coalesce(regexp_replace(delivery.body, day, '{{reply_by}}', 'g'), delivery.body)
  from (
    select (
      select '\m' || private.with_deadline('{{reply_by}}', deadline) || '\M' from private.invitations
      where application_id = delivery.application_id and is_accepted and deadline is not null and delivery.kind = 'letter'
        and exists (
          select from private.letters left join private.templates on templates.name = letters.template
          where letters.id = delivery.letter_id and private.has_deadline(
            coalesce(letters.subject, templates.subject, '') || coalesce(letters.body, templates.body, ''))
        )
    ) as day
  ) as filled
$$;

-- The accepted people of the newest edition who were told without their link, have no RSVP, and can be sent a reminder now; up to a
-- thousand. After the deadline, a link would be refused.
create or replace function private.told_without_link() returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return array(
    select application_id from private.invitations join private.statuses using (application_id)
    where edition = (select max(id) from private.editions) and not private.is_link_over(application_id)
      and is_without_link and is_accepted and told_at is not null and rsvp is null
      and not coalesce(private.is_reminder_recent(reminded_at), false) and not private.is_withdrawn(application_id)
      and application_id not in (select private.with_unsent_letter('reminder'))
    order by told_at, application_id limit 1000
  );
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
    begin
      perform from private.deliveries
        where id = delivery and attempts = attempt and deliveries.state = 'sending' and (recalled_at is not null) = is_recalled
        for update;
      exit when found;
      raise serialization_failure;
    exception when serialization_failure then
      -- The recall changed between the two statements. The row was locked nevertheless. It is unlocked here, since the application
      -- is locked before it.
    end;
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
      'added_by', nullif(private.author_shown(application.added_by), application.added_by),
      'retreat', case when is_confirmation then private.retreat(application.edition) end
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;

drop function if exists private.letters_overview();

-- The state of all letters: the drafts of each template, the letters that did not arrive, and whether a server sends them.
-- Counts go up to a thousand, as for applications.
create or replace function private.letters_overview(blind boolean) returns jsonb
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
      -- Released letters that can still be stopped, by act. A single recipient has a name.
      'leaving', (
        select coalesce(jsonb_agg(jsonb_build_object('act', act, 'count', count,
          'seconds', ceil(extract(epoch from due_at - now()))::integer, 'name', case
            when count = 1 and not blind
            then (select private.full_name(application) from public.retreat_applications as application where id = recipients[1])
          end) order by due_at), '[]')
        from (
          select act, count(distinct application_id), array_agg(application_id) as recipients, max(due_at) as due_at
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

revoke all on function private.letters_overview(boolean) from public, anon, authenticated;

drop function if exists private.first_templates();

-- The templates of the product, with the texts that a new database has.
create or replace function private.first_templates() returns table (name text, subject text, body text)
  language sql immutable set search_path = ''
as $$
  values
  ('accepted', 'Your place at {{retreat}}', 'Hello {{first_name}},

We would love to have you with us: your application to {{retreat}} is accepted.

When: {{days}}
Where: {{venue}}

We keep your place until {{reply_by}}. Please tell us by then whether you are coming.

You can say so here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('reminder', 'Are you coming to {{retreat}}?', 'Hello {{first_name}},

We have not heard from you yet: are you coming to {{retreat}}? We keep your place until {{reply_by}}.

When: {{days}}
Where: {{venue}}

You can say so here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('confirmed', 'See you at {{retreat}}', 'Hello {{first_name}},

Thank you for telling us that you are coming to {{retreat}}. Your place is confirmed, and we look forward to meeting you.

When: {{days}}
Where: {{venue}}

If your plans change, please tell us here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('questions', 'A few questions before {{retreat}}', 'Hello {{first_name}},

We look forward to meeting you at {{retreat}}. So that we can prepare it, please answer a few questions.

You can do so here: {{answer_link}}

Or just reply to this email.

The organisers of {{retreat}}'),
  ('waitlisted', 'You are on the waitlist of {{retreat}}', 'Hello {{first_name}},

Thank you for your application to {{retreat}}. All places are taken for now, and you are on our waitlist.

If one becomes free, we will write to you at once.

The organisers of {{retreat}}'),
  ('declined', 'Your application to {{retreat}}', 'Hello {{first_name}},

Thank you for your application to {{retreat}}. We are sorry that we cannot offer you a place this time.

We wish you and {{company}} all the best.

The organisers of {{retreat}}'),
  ('received', 'We have your application', 'Hello {{first_name}},

Thank you for your application to {{retreat}}. We have it, and we will get back to you soon.

If you change your mind, you can withdraw it here: {{withdraw_link}}

The organisers of {{retreat}}')
$$;

revoke all on function private.first_templates() from public, anon, authenticated;

-- Permanently erases applications, with everything that is known about them. The history records only who erased how many. Returns
-- the number.
create or replace function private.erase_applications(applications uuid[], author text, act uuid default gen_random_uuid()) returns integer
  language plpgsql set search_path = ''
as $$
declare
  erased integer;
begin
  perform private.lock_for_erasing(applications);
  delete from public.retreat_applications where id = any (applications);
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (act, author, kind, detail)
      values (erase_applications.act, erase_applications.author, 'erased', jsonb_build_object('applications', erased));
  end if;
  return erased;
end
$$;

revoke all on function private.erase_applications(uuid[], text, uuid) from public, anon, authenticated;

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
  -- Checked before the query, since PostgreSQL evaluates a condition without a query in a tenth of the time. Somebody whom an
  -- organiser adds to the new edition too is no repeat.
  if new.added_by is null and private.is_ahead(door.repeats_until, '1 hour') then
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

-- The state of the door at this moment. An automatic closing counts as a change. Otherwise an organiser who still sees an
-- open door could reopen it by mistake. An infinite time, which earlier versions could store, is not shown: that door never
-- closes, or is closed.
create or replace function private.door_state() returns jsonb
  language sql stable set search_path = ''
as $$
  select to_jsonb(door) - '{is_only,repeats_until}'::text[] || jsonb_build_object(
    'closes_at', case when closes_at between '0001-01-01 00:00+00' and '9999-12-31 23:59:59+00' then closes_at end,
    'opened_at', nullif(opened_at, '-infinity'), 'is_open', is_open, 'version', version + (not is_open and not closed)::integer
  )
  from private.door, lateral (
    select not (closed or coalesce(clock_timestamp() >= closes_at, false) or coalesce(received >= closes_after, false)) as is_open
  ) as state
$$;

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
      'letters', private.letters_of(array[application], me.blind), 'overview', private.letters_overview(me.blind),
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
-- `gone`: the application was erased. `stopped`: how many letters on their way to the applicant the decision stopped. Repeating the
-- act changes nothing.
create or replace function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  current_status private.statuses;
  outcome text;
  stopped_count integer;
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
    stopped_count := 0;
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
        select count(*) into stopped_count from private.deliveries as delivery
          where delivery.application_id = decision.id and letter_id is not null and private.is_main(delivery) and state = 'waiting';
        -- The trigger `redraft` stops them.
        update private.statuses set status = decision.status, version = current_status.version + 1, set_at = now()
          where application_id = decision.id returning * into current_status;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', decision.id, 'outcome', outcome, 'status', current_status.status, 'version', current_status.version,
      'author', last_change.author, 'at', last_change.at, 'stopped', stopped_count
    );
  end loop;
  return private.end_act(act, outcomes);
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
        where is_accepted and statuses.edition = shown and statuses.status = 'accepted'
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
      where is_accepted and rsvp = 'coming' and statuses.edition = shown and statuses.status = 'accepted'
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
  return jsonb_build_object('letters', private.drafts_shown(ids, me.blind), 'overview', private.letters_overview(me.blind), 'next', (
    select jsonb_build_object('position', array_position(occasions, coalesce(template, '')), 'at', drafted_at, 'id', id)
    from private.letters where id = ids[50]
  ));
end
$$;

create or replace function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.letters_overview(me.blind);
end
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
  return jsonb_build_object('letters', private.letter_deliveries_shown(ids, me.blind), 'overview', private.letters_overview(me.blind),
    'retriable', to_jsonb(retriable), 'next', (
    select jsonb_build_object('at', queued_at, 'id', id) from private.deliveries where id = ids[50]
  ));
end
$$;

-- Releases drafts, an array of {id, seen}: they are sent after a minute. `seen` identifies the text that the organiser read: a
-- digest of the template's text, or the version of an edited letter (`draft_text`). For more than thirty letters, `number` must
-- equal their count. Letters that were sent before need `again`, except reminders. The result has the outcome of each.
-- `released`: it is queued. `gone`: it is no longer a draft, its decision is no longer current, or its questions cannot be answered
-- any more. `withdrawn`: the applicant withdrew the application. `changed`: since it was read. `missing`: a placeholder is blank or
-- unknown. `long`: too long once filled in. `again`: sent before. Without a mail server the decision goes to the automation, which
-- emails the applicant. Repeating the act changes nothing; letters that were released and then stopped are `changed`.
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
    return (
      select coalesce(jsonb_agg(
        case when former ->> 'outcome' = 'released' and exists (
          select from private.letters as draft where draft.id = (former ->> 'id')::uuid and state = 'draft'
        ) then former || '{"outcome": "changed"}' else former end
        order by position
      ), '[]')
      from private.acts cross join jsonb_array_elements(result) with ordinality as outcomes (former, position)
      where acts.act = desk_release.act
    );
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

-- Permanently erases applications of one email.
create or replace function public.desk_erase(applications uuid[], email text, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
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
  return private.end_act(act,
    jsonb_build_object('erased', private.erase_applications(applications, me.email, act)));
end
$$;

drop function if exists private.keep_answers();

drop function if exists private.keep_applications(integer);

drop function if exists private.keep_notices();
