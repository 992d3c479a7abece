-- Calendars know the days of the retreat and its venue, and people who are coming may be sent a confirmation
-- (docs/decisions/0070).

alter table private.editions
  add column starts_on date,
  add column ends_on date constraint editions_days
    check ((starts_on is null) = (ends_on is null) and starts_on between '2000-01-01' and ends_on and ends_on < '3000-01-01'),
  add column venue text not null default '' constraint editions_venue
    check (char_length(venue) <= 200 and venue !~ '[[:cntrl:]]'),
  add column calendar_sequence integer not null default 0;

alter table private.letter_settings add column confirmations boolean not null default false;

alter table private.templates drop constraint templates_kind_check,
  add constraint templates_kind_check check (kind in ('receipt', 'decision', 'reminder', 'confirmation', 'other')) not valid;

-- What goes where. A restore of an older backup runs this statement, too. Organisers may have a template of this name, whose
-- text is kept.
insert into private.templates (name, kind, subject, body) values
  ('confirmed', 'confirmation', 'See you at Unplugged', 'Hello {{first_name}},

Thank you for telling us that you are coming to Unplugged. Your place is confirmed, and we look forward to meeting you.

If your plans change, please tell us here: {{answer_link}}

Or just reply to this email.

The organisers of Unplugged.')
on conflict (name) do update set kind = excluded.kind;
-- So far what goes where.

-- The functions that changed. `npm run schema` writes what follows: edit the declared schema instead.
-- Removes a template that organisers created, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
begin
  if exists (select from private.templates where name = occasion and kind <> 'other') then
    raise exception 'The templates of the receipt, the decisions, the reminder and the confirmation stay.' using errcode = '22023';
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

-- Whether a template may still be sent to an applicant. It has to exist. A decision has to be the current one. A reminder is
-- only for people without an RSVP, and a confirmation only for people who are coming.
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
    and (template <> 'confirmed' or exists (
      select from private.invitations where application_id = application and is_accepted and rsvp = 'coming'
    ));
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
        )) order by array_position('{received,accepted,waitlisted,declined,reminder,confirmed}', name), name)
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

-- Whether a letter is a confirmation to somebody who is coming.
create function private.is_confirmation(letter uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.letters where id = letter and template = 'confirmed')
$$;

revoke all on function private.is_confirmation(uuid) from public, anon, authenticated;

-- Whether a delivery has the deadline or the link, and the deadline has passed. An acceptance that an automation sends in
-- place of our email always counts as having both. A confirmation asks for nothing, and is never overdue.
create or replace function private.is_overdue(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return (
      private.has_link(delivery.subject || delivery.body) or private.has_deadline(delivery.subject || delivery.body)
      or delivery.kind = 'decision' and exists (
        select from private.letters where id = delivery.letter_id and template = 'accepted'
      )
    )
    and private.is_main(delivery) and private.is_deadline_over(delivery.application_id)
    and not private.is_confirmation(delivery.letter_id);
end
$$;

-- Sets an RSVP, null for none. The caller has locked the application. The newest RSVP counts, and the history has all. A
-- person with an RSVP gets no more reminders, and only a person who is coming gets a confirmation.
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

-- An invitation as its page shows it: {"state": "open", "first_name", "until", "answer", "address": the reply address,
-- "retreat": for somebody who is coming (`private.retreat`)}; after the deadline {"state": "over", ...}; and for an invalid
-- link {"state": "invalid"}.
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
      'retreat', case when rsvp = 'coming' then private.retreat(edition) end
    )
    from private.invitations as invitation
      join public.retreat_applications as application_row on application_row.id = application_id
      cross join private.places
      cross join lateral (select coalesce(deadline, private.today() + places.days) as until) as counted
    where application_id = application
  );
end
$$;

-- The numbers of places and RSVPs, and the waitlist: {version, places, days, zone, is_zone_set, site, today, retreat, coming,
-- not_coming, no_answer, late, not_told, free, waitlisted, waitlist}. `retreat` has the newest edition's days and venue. `late` is a part of `no_answer`. `free` is null if the
-- number of places is unknown, and negative if more people were accepted. `waitlist` has the first twenty of those
-- `waitlisted`. `zone` is `UTC` until one is set. Older desks send the argument, which is ignored.
create or replace function public.desk_places(zone text default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  -- Computed once, not for each row.
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
      'today', today, 'retreat', (
        select jsonb_build_object('version', calendar_sequence, 'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
        from private.editions order by editions.id desc limit 1
      ), 'free', places - coming - no_answer - not_told,
      'waitlisted', (select count(*) from private.statuses where status = 'waitlisted'),
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
          where status = 'waitlisted' order by set_at, application_id limit 20
        ) as waiting
          join public.retreat_applications as application on id = waiting.application_id
          cross join private.summaries(array[id], me.blind)
      ))
    from private.places as settings, counted
  );
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

-- Sets the days and the venue of the newest edition, both days null for unknown. Nobody is told of a change: people who are
-- coming see it on their page.
create function public.desk_set_retreat(version integer, starts_on date, ends_on date, venue text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  settings private.places;
begin
  venue := btrim(coalesce(venue, ''));
  if (starts_on is null) <> (ends_on is null) then
    raise exception 'A retreat has a first and a last day, or neither yet.' using errcode = '22023';
  elsif starts_on > ends_on then
    raise exception 'The last day is before the first.' using errcode = '22023';
  elsif starts_on < '2000-01-01' or ends_on >= '3000-01-01' then
    raise exception 'The days are between 2000 and 2999.' using errcode = '22023';
  elsif char_length(venue) > 200 or venue ~ '[[:cntrl:]]' then
    raise exception 'The venue is one line of at most 200 characters.' using errcode = '22023';
  end if;
  select * into former from private.editions order by id desc limit 1 for update;
  if (former.starts_on, former.ends_on, former.venue) is not distinct from (starts_on, ends_on, venue) then
    -- Nothing to save, or a repeat whose response was lost.
    return public.desk_places();
  elsif former.calendar_sequence is distinct from desk_set_retreat.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.editions as edition set starts_on = desk_set_retreat.starts_on, ends_on = desk_set_retreat.ends_on,
    venue = desk_set_retreat.venue, calendar_sequence = former.calendar_sequence + 1
    where id = former.id;
  -- The numbers of places are in it for desks that were opened before an update.
  select * into settings from private.places;
  insert into private.history (author, kind, detail)
    values (me.email, 'places', jsonb_build_object('places', settings.places, 'days', settings.days, 'starts_on', starts_on,
      'ends_on', ends_on, 'venue', venue));
  return public.desk_places();
end
$$;

revoke all on function public.desk_set_retreat(integer, date, date, text) from public, anon, authenticated;
grant execute on function public.desk_set_retreat(integer, date, date, text) to authenticated;

-- Sends somebody a confirmation, which can be stopped like any letter. At most one an hour leaves, and none is queued unless
-- a server that sends emails was seen in the last day. A letter that quotes a blank form answer stays a draft. If this fails,
-- the RSVP is still stored. The caller has locked the application.
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
  -- Null: a draft of an organiser, or a letter on its way.
  if drafted is null then return; end if;
  -- The text of the template, not one that an organiser edited for this person and removed.
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
