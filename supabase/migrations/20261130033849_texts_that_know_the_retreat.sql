set local lock_timeout = '1s';

-- The texts of letters name the retreat, its days and its venue. Where people have applied, all texts stay as they are.
update private.templates as template set subject = new.subject, body = new.body
  from private.first_templates() as former join (values
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

The organisers of {{retreat}}')
  ) as new (name, subject, body) using (name)
  where template.name = former.name and (template.subject, template.body) = (former.subject, former.body)
    and not exists (select from public.retreat_applications);
