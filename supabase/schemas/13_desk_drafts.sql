-- What organisers do with drafts.

-- A draft as it would be sent. `seen` tells its text from others, by which whoever releases it says what they read: of the
-- template's text, which all organisers may read, a digest; of another, which may name somebody, a number.
create function private.draft_text(letter private.letters, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
  template private.templates;
  text jsonb;
begin
  select * into given from public.retreat_applications where id = letter.application_id;
  select * into template from private.templates where name = letter.template;
  if letter.subject is null then
    text := private.filled(template.subject, template.body, given, blind);
  else
    -- What was written to somebody names them.
    text := jsonb_build_object(
      'subject', case when blind then '(hidden)' else letter.subject end,
      'body', case when blind then '(hidden)' else letter.body end,
      'missing', private.missing_in(letter.subject || letter.body, letter.application_id),
      'unknown', '[]'::jsonb, 'is_long', false
    );
  end if;
  return text || jsonb_build_object('seen', case
    -- With a number where it was sent before: who sent it by hand does not note twice what they sent once.
    when letter.subject is null then md5(template.subject || E'\n' || template.body)
      || coalesce('-' || nullif(private.times_told(letter.id), 0), '')
    else letter.version::text
  end);
end
$$;

-- Drafts letters of a template; with `again` also where one was sent. The result has the outcome of each: drafted, written
-- (there is a draft or a letter, in this state), undecided (another decision stands) or gone.
create function public.desk_write(applications uuid[], occasion text, again boolean default false) returns jsonb
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
    raise exception 'A receipt goes by itself, and to nobody else.' using errcode = '22023';
  end if;
  -- Held until then, so that whoever removes it removes these drafts, too.
  perform from private.templates where name = occasion for key share;
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
      'state', case outcome when 'written' then coalesce(
        (select state from private.letters where application_id = application and template = occasion and state = 'draft'),
        -- What stands in the way of another one comes before what was sent.
        (
          select state from private.trips as trip
          where application_id = application and trip.occasion = desk_write.occasion and is_main and state <> 'withdrawn'
          order by state = 'sent' limit 1
        )) end);
  end loop;
  return outcomes;
end
$$;

-- Refuses an invalid letter to one person.
create function private.check_letter(subject text, body text) returns void
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

-- Drafts a letter to one person, without a template. The same act again drafts none.
create function public.desk_write_to(act uuid, application uuid, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    raise exception 'Who reads blind writes to nobody.' using errcode = '22023';
  elsif act is null then
    raise exception 'An act has an id.' using errcode = '22023';
  end if;
  perform private.check_letter(subject, body);
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  insert into private.letters (id, application_id, subject, body)
    values (act, application, desk_write_to.subject, desk_write_to.body) on conflict do nothing;
  perform from private.letters where id = desk_write_to.act and application_id = application and template is null;
  if not found then
    raise exception 'This was something else before: nothing was written.' using errcode = 'PT409';
  end if;
  return private.drafts_shown(array[act], false) -> 0;
end
$$;

-- Changes one draft. A blank subject and body give it its template's text again, if it has one. `seen` says which text was read.
create function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
begin
  if me.blind then
    raise exception 'Who reads blind edits no letter.' using errcode = '22023';
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
    -- Sent again, because its answer was lost.
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

-- Removes drafts. A new decision makes one again. The result counts the removed ones.
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
