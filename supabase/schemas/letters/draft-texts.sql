-- The texts of letters before they are sent: what is checked when an organiser writes, changes or hands over one.

-- Whether a letter to one person has placeholders besides the link and the deadline, which are filled in at the handover.
create function private.has_placeholders(text text) returns boolean
  language sql immutable
  return regexp_replace(text, '\{\{\s*(answer_link|reply_by)\s*\}\}', '', 'g') ~ '\{\{|\}\}';

-- A draft as it would be sent. `reply_by`: the deadline if it were sent today, which stays a placeholder in the text. `seen`
-- identifies the text that the organiser read. It is a digest of the template's text, which all organisers may read. For an
-- edited letter, whose text may name somebody, it is the version.
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
  return text || jsonb_build_object('reply_by', (
    select private.deadline_at_handover(invitation, private.today() + days)
    from private.invitations as invitation cross join private.places
    where application_id = letter.application_id and is_accepted
  ), 'seen', case
    -- Includes how often it was sent, so that a repeated "sent by hand" is recognised.
    when letter.subject is null then md5(template.subject || E'\n' || template.body)
      || coalesce('-' || nullif(private.times_told(letter.id), 0), '')
    else letter.version::text
  end);
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
