-- Links and deadlines in letters and receipts: placeholders until they are given to a mail server or to an organiser's mail program.

-- Whether a text has the placeholder of the link, or of the deadline. Letters are stored with these placeholders.
create function private.has_link(letter_text text) returns boolean
  language sql immutable set search_path = ''
  return letter_text ~ '\{\{\s*answer_link\s*\}\}';
create function private.has_deadline(letter_text text) returns boolean
  language sql immutable set search_path = ''
  return letter_text ~ '\{\{\s*reply_by\s*\}\}';

-- Whether an applicant's deadline has passed. It cannot pass before they were told or an organiser set it: until then, the
-- handover sets it.
create function private.is_deadline_over(application uuid) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from private.invitations
    where application_id = application and deadline < private.today() and (told_at is not null or is_deadline_set)
  );
end
$$;

-- Whether an applicant's link has no more use: the deadline has passed, and they are not a guest who may still answer questions.
create function private.is_link_over(application uuid) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return private.is_deadline_over(application) and not exists (
    select from private.invitations join public.retreat_applications as guest on guest.id = application_id
    where application_id = application and is_accepted and rsvp = 'coming' and private.are_questions_open(edition)
  );
end
$$;

-- The link and the deadline in a letter that is not sent yet: placeholders. Both are blank if the person is not accepted. The
-- link is blank if it has no more use, and the deadline if it has passed.
create function private.invitation_placeholders(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_accepted boolean := exists (
    select from private.invitations where application_id = application and invitations.is_accepted
  );
begin
  return jsonb_build_object(
    'answer_link', case when is_accepted and not private.is_link_over(application) then '{{answer_link}}' else '' end,
    'reply_by', case when is_accepted and not private.is_deadline_over(application) then '{{reply_by}}' else '' end);
end
$$;

-- Whether a letter is a confirmation to somebody who is coming.
create function private.is_confirmation(letter uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.letters where id = letter and template = 'confirmed')
$$;

-- Whether a delivery contains a deadline that has passed, or a link that has no more use. An acceptance that an automation sends
-- in place of our email always counts as having the deadline. A confirmation asks for nothing, and is never overdue.
create function private.is_overdue(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return (
      private.has_link(delivery.subject || delivery.body) and private.is_link_over(delivery.application_id)
      or (
        private.has_deadline(delivery.subject || delivery.body)
        or delivery.kind = 'decision' and exists (
          select from private.letters where id = delivery.letter_id and template = 'accepted'
        )
      ) and private.is_deadline_over(delivery.application_id)
    )
    and private.is_main(delivery) and not private.is_confirmation(delivery.letter_id);
end
$$;

-- A text with the deadline filled in; left out if there is none.
create function private.with_deadline(letter_text text, deadline date) returns text
  language sql immutable set search_path = ''
  return regexp_replace(letter_text, '\{\{\s*reply_by\s*\}\}', coalesce(to_char(deadline, 'FMDD FMMonth YYYY'), ''), 'g');

-- Subject and body of a letter as they are stored once it `was_sent`: with the deadline that the recipient read. The link is a
-- secret, so its placeholder stays.
create function private.as_sent(delivery private.deliveries, was_sent boolean, out subject text, out body text)
  language plpgsql stable set search_path = ''
as $$
declare
  deadline date;
begin
  subject := delivery.subject;
  body := delivery.body;
  if was_sent and delivery.kind = 'letter' and private.has_deadline(subject || body) then
    select invitation.deadline into deadline from private.invitations as invitation
      where application_id = delivery.application_id and is_accepted;
    -- Somebody who is no longer accepted has none.
    if deadline is not null then
      subject := private.with_deadline(subject, deadline);
      body := private.with_deadline(body, deadline);
    end if;
  end if;
end
$$;

-- Subject and body of a letter that came back, as they were before `as_sent`. A deadline that an organiser moved since stays as the
-- letter said it, and so does any date if neither the letter nor its template has the placeholder.
create function private.as_unsent(delivery private.deliveries, out subject text, out body text)
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

-- A text with a link filled in: `answer_link`, or `withdraw_link` in a receipt. Without a link (null), the paragraphs that need it
-- are left out.
create function private.with_link(letter_text text, placeholder text, link text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  pattern constant text := '\{\{\s*' || placeholder || '\s*\}\}';
begin
  if link is null and letter_text ~ pattern then
    letter_text := array_to_string(array(
      select paragraph
      from regexp_split_to_table(letter_text, '(?:\r?\n[ \t]*){2,}') with ordinality as parts (paragraph, position)
      where paragraph !~ pattern order by position
    ), E'\n\n');
  end if;
  return regexp_replace(letter_text, pattern, coalesce(link, ''), 'g');
end
$$;

create function private.with_answer_link(letter_text text, link text) returns text
  language plpgsql immutable set search_path = ''
as $$ begin return private.with_link(letter_text, 'answer_link', link); end $$;

-- A text with the link and the deadline filled in.
create function private.with_invitation(letter_text text, link text, deadline date) returns text
  language sql immutable set search_path = ''
  return private.with_deadline(private.with_answer_link(letter_text, link), deadline);

-- The deadline of a letter that is handed over now. Until an applicant was told, or an organiser set it, the days count from the
-- latest handover.
create function private.deadline_at_handover(invitation private.invitations, default_deadline date) returns date
  language sql immutable
as $$
  select case
    when invitation.told_at is null and not invitation.is_deadline_set then greatest(invitation.deadline, default_deadline)
    else coalesce(invitation.deadline, default_deadline)
  end
$$;

-- Sets the deadline of the recipient of a letter that is about to be sent. The result is their link, null if the site's address
-- is unknown, and their deadline. `has_link`: whether the letter should have the link. The
-- update reads only its own row: a subquery would read the row as it was before the lock.
create function private.set_deadline_at_handover(
  application uuid, site text default null, has_link boolean default true, out link text, out deadline date
)
  language plpgsql set search_path = ''
as $$
declare
  settings private.places;
  default_deadline date;
  known_site text;
begin
  select * into settings from private.places;
  default_deadline := private.today() + settings.days;
  known_site := coalesce(nullif(settings.site, ''), nullif(set_deadline_at_handover.site, ''));
  update private.invitations as invitation set
      deadline = private.deadline_at_handover(invitation, default_deadline),
      is_without_link = case when has_link then known_site is null else is_without_link end
    where application_id = application and is_accepted
    returning known_site || '/answer/#' || token, invitation.deadline into link, deadline;
end
$$;

-- Subject and body of a letter as it is handed over, and the link in it.
create function private.fill_at_handover(
  application uuid, inout subject text, inout body text, site text default null, out link text
)
  language plpgsql set search_path = ''
as $$
declare
  invitation record;
begin
  if private.has_link(subject || body) or private.has_deadline(subject || body) then
    invitation := private.set_deadline_at_handover(application, site, private.has_link(subject || body));
    link := invitation.link;
    subject := private.with_invitation(subject, coalesce(invitation.link, ''), invitation.deadline);
    body := private.with_invitation(body, invitation.link, invitation.deadline);
  end if;
end
$$;
