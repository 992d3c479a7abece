-- Drafts: which letters wait for an organiser, and how a decision, an RSVP or a result changes that.

-- Whether a letter is pending or has failed. Such a letter is not drafted again.
create function private.is_undelivered(letter uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.deliveries as delivery
    where letter_id = letter and private.is_main(delivery) and state in ('waiting', 'sending', 'failed')
  )
$$;

-- How often a letter arrived, or may have arrived.
create function private.times_told(letter uuid) returns bigint
  language sql stable set search_path = ''
as $$
  select count(*) from private.deliveries as delivery where letter_id = letter and private.has_told(delivery)
$$;

-- The last decision that an applicant was told of; null if there is none.
create function private.decision_told(application uuid) returns text
  language sql stable set search_path = ''
as $$
  select template
  from private.deliveries as delivery join private.letters on letters.id = letter_id
  where delivery.application_id = application and private.has_told(delivery) and private.is_decision(template)
  order by coalesce(done_at, recalled_at, queued_at) desc limit 1
$$;

-- Creates the draft of a template, unless there is one, or its letter is pending or has failed. Skips a letter that the applicant
-- already got, unless `again` is set, or the letter tells a decision and they were last told another one. Skips a reminder if one
-- was sent in the last three days, and everybody who withdrew. Returns the letter's id, null if it was skipped. A dropped letter becomes a draft with its
-- former text.
create function private.draft_from_template(application uuid, template text, again boolean default false) returns uuid
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
create function private.may_be_said(application uuid, template text) returns boolean
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

-- Drops an application's letters that have not arrived, of one template or of all, and recalls pending and failed ones. A letter
-- to one person becomes or stays a draft, since its text is nowhere else. The caller has locked the application.
create function private.drop_letters(application uuid, template text default null) returns void
  language plpgsql set search_path = ''
as $$
declare
  to_recall uuid[] := array(
    select delivery.id from private.deliveries as delivery join private.letters on letters.id = letter_id
    where delivery.application_id = application and private.is_main(delivery)
      and delivery.state in ('waiting', 'sending', 'failed')
      and (drop_letters.template is null or letters.template = drop_letters.template)
  );
begin
  perform private.recall(to_recall);
  update private.letters as letter set state = case when letter.template is null then 'draft' else 'dropped' end,
      drafted_at = case when state = 'draft' then drafted_at else now() end
    where application_id = application and (drop_letters.template is null or letter.template = drop_letters.template)
      and (state = 'draft' or state = 'released' and not private.is_undelivered(id) and (
        private.times_told(id) = 0
        -- A letter written for one person, without a template, becomes a draft even if it may have arrived.
        or letter.template is null and id in (select letter_id from private.deliveries where deliveries.id = any (to_recall))
      ));
end
$$;

-- Drops the letters that have not arrived, then drafts the one for the new decision. Runs after the first decision, and after
-- each change of a status. A receipt says nothing about decisions, so it is still sent.
create function private.redraft() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.drop_letters(new.application_id);
  if private.is_decision(new.status) then
    perform private.draft_from_template(new.application_id, new.status);
  end if;
  return null;
end
$$;

create trigger draft_first after insert on private.statuses
  for each row when (private.is_decision(new.status)) execute function private.redraft();
create trigger redraft after update of status on private.statuses
  for each row when (old.status <> new.status) execute function private.redraft();

-- Settles a letter whose delivery was cancelled. A letter to one person becomes a draft again. So does a letter that an
-- organiser stopped, if it may still be sent. The caller has locked the letter.
create function private.settle_letter(delivery private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.letters as letter set drafted_at = now(), state = case
      when template is null then 'draft'
      when delivery.recalled_by is not null and private.may_be_said(application_id, template) then 'draft'
      when private.times_told(id) > 0 then 'released'
      else 'dropped' end
    where id = delivery.letter_id and state = 'released' and not private.is_undelivered(id);
end
$$;

-- Runs after the try of a recalled delivery has ended. Drafts a letter about the current decision if the recalled letter may have
-- told another decision, or if it was about the current one. The caller has locked the letter.
create function private.settle_recalled(delivery private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
declare
  status_now text := (select status from private.statuses where application_id = delivery.application_id);
  template text := (select letters.template from private.letters where id = delivery.letter_id);
begin
  -- A decision beside an email changes no letter.
  if not private.is_main(delivery) then return; end if;
  if delivery.state = 'cancelled' then perform private.settle_letter(delivery); end if;
  if private.is_decision(status_now) and (
    private.is_decision(template) and private.has_told(delivery) or template = status_now
  ) then
    perform private.draft_from_template(
      delivery.application_id, status_now, delivery.state = 'cancelled' and template = status_now);
  end if;
end
$$;

-- Cancels restored deliveries, since the original database may have sent them. Their letters become drafts if they may still be
-- sent, and are dropped otherwise.
create function private.settle_restored() returns void
  language plpgsql set search_path = ''
as $$
declare
  ended private.deliveries;
begin
  for ended in
    update private.deliveries as delivery set state = 'cancelled', due_at = null
      where kind in ('letter', 'decision', 'receipt') and state in ('waiting', 'sending') returning *
  loop
    continue when not private.is_main(ended);
    if ended.recalled_at is not null then
      perform private.settle_recalled(ended);
    else
      update private.letters set drafted_at = now(),
          state = case when template is null or private.may_be_said(application_id, template) then 'draft' else 'dropped' end
        where id = ended.letter_id and state = 'released';
    end if;
  end loop;
  update private.deliveries set recalled_at = now() where kind in ('letter', 'decision', 'receipt')
    and state = 'cancelled' and recalled_at is null;
end
$$;
