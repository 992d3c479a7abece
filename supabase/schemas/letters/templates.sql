-- Templates: the texts of letters.

-- The templates of the product, with the texts that a new database has.
create function private.first_templates() returns table (name text, subject text, body text)
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

insert into private.templates (name, subject, body) select * from private.first_templates();

-- Refuses an invalid letter.
create function private.check_text(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(btrim(subject), '') = '' or char_length(subject) > 200 or subject ~ '[[:cntrl:]]' then
    raise exception 'A subject is one line of 1 to 200 characters.' using errcode = '22023';
  elsif coalesce(btrim(body, E' \t\r\n'), '') = '' or char_length(body) > 20000 then
    raise exception 'A letter has between 1 and 20,000 characters.' using errcode = '22023';
  end if;
end
$$;

-- Whether a letter may ask for an RSVP. Receipts, and letters that waitlist or decline, may not.
create function private.may_ask_for_rsvp(occasion text) returns boolean
  language sql immutable
  return coalesce(occasion, '') = 'accepted'
    or coalesce(occasion, '') <> 'received' and not private.is_decision(coalesce(occasion, ''));

-- Refuses an invalid template. `occasion` is its name.
create function private.check_template(occasion text, subject text, body text) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  placeholder_values jsonb := private.placeholders(null::public.retreat_applications, false)
    || '{"retreat": "", "days": "", "venue": ""}';
  unknown text;
begin
  perform private.check_text(subject, body);
  if occasion = 'received' then placeholder_values := '{"first_name": "", "retreat": "", "withdraw_link": ""}'; end if;
  if private.may_ask_for_rsvp(occasion) then
    placeholder_values := placeholder_values || '{"answer_link": "", "reply_by": ""}';
  end if;
  select min(name) into unknown
    from unnest(
      (private.fill(subject, placeholder_values)).unknown || (private.fill(body, placeholder_values)).unknown) as name;
  if unknown = '{{' then
    raise exception 'A placeholder has two braces before and two after its name, as in {{first_name}}.' using errcode = '22023';
  elsif unknown is not null then
    raise exception 'There is no placeholder %.', '{{' || unknown || '}}' || case
      when occasion = 'received' then ' in a receipt'
      when unknown in ('answer_link', 'reply_by') then ' in a letter to somebody who is not accepted'
      else '' end
      using errcode = '22023';
  end if;
end
$$;

-- A template as organisers see it. `original`: the product's text, if the template has another one.
create function private.template_shown(template private.templates) returns jsonb
  language sql immutable set search_path = ''
as $$
  select jsonb_build_object('occasion', template.name, 'version', template.version, 'subject', template.subject,
    'body', template.body, 'original', (
      select jsonb_build_object('subject', first.subject, 'body', first.body) from private.first_templates() as first
      where first.name = template.name and (first.subject, first.body) <> (template.subject, template.body)
    ))
$$;
