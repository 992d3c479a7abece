-- The calls for drafts.

-- Whether a letter to one person has placeholders besides the link and the deadline, which are filled in at the handover.
create function private.has_placeholders(text text) returns boolean
  language sql immutable
  return regexp_replace(text, '\{\{\s*(answer_link|reply_by)\s*\}\}', '', 'g') ~ '\{\{|\}\}';

-- A draft as it would be sent. `seen` identifies the text that the organiser read. It is a digest of the template's text,
-- which all organisers may read. For an edited letter, whose text may name somebody, it is the version.
create function private.draft_text(letter private.letters, blind boolean) returns jsonb
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
  return text || jsonb_build_object('seen', case
    -- Includes how often it was sent, so that a repeated "sent by hand" is recognised.
    when letter.subject is null then md5(template.subject || E'\n' || template.body)
      || coalesce('-' || nullif(private.times_told(letter.id), 0), '')
    else letter.version::text
  end);
end
$$;

-- Drafts letters of a template; with `again`, even if it was sent before. The result has the outcome of each: drafted, written (a
-- draft or a letter exists already, in the returned `state`), undecided (another decision is current) or gone. Repeating the act
-- drafts none and returns the first result. A desk of version 1.0 sends no `act`.
create function public.desk_write(applications uuid[], occasion text, again boolean default false, act uuid default null)
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
  elsif (select kind from private.templates where name = occasion) = 'receipt' then
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

-- Refuses an invalid letter to one person.
create function private.check_letter(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  perform private.check_text(subject, body);
  if private.has_placeholders(subject || body) then
    raise exception 'A letter to one person has no placeholders except {{answer_link}} and {{reply_by}}.'
      using errcode = '22023';
  end if;
end
$$;

-- Drafts a letter to one person, without a template. Repeating the act drafts none.
create function public.desk_write_to(act uuid, application uuid, subject text, body text) returns jsonb
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
  insert into private.letters (id, application_id, subject, body)
    values (act, application, desk_write_to.subject, desk_write_to.body) on conflict do nothing;
  return private.drafts_shown(array[act], false) -> 0;
end
$$;

-- Changes one draft. A blank subject and body restore its template's text, if it has one. `seen` says which text was read.
create function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
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

-- Removes drafts. A new decision drafts its letter again. The result counts the removed drafts.
create function public.desk_discard(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  update private.letters set state = 'dropped' where id = any (desk_discard.letters) and state = 'draft';
  return (
    select jsonb_build_object('discarded', count(*)) from private.letters
    where id = any (desk_discard.letters) and state = 'dropped'
  );
end
$$;

-- Refuses an invalid address of a site.
create function private.check_site(site text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(site, '') !~ '^(https?://[^\s<>"\\{}#?]+[^\s<>"\\{}#?/])?$' then
    raise exception 'This is not a site''s address.' using errcode = '22023';
  end if;
end
$$;

-- Returns a draft with its link, so that an organiser can open it in their own mail program. The history records that the
-- organiser got the link. `site` is used if no server has stored the site's address. Older desks also send the time zone. A
-- letter with the link or the deadline is refused until a time zone is set.
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
    raise exception 'This letter has a deadline: first save the time zone under Places.' using errcode = '22023';
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
