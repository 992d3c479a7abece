set local lock_timeout = '1s';

alter table private.statuses add column withdrawn_at timestamptz;

alter table private.history drop constraint history_kind_check,
  add constraint history_kind_check check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address',
    'told', 'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention', 'page',
    'returned', 'organiser', 'added', 'withdrawal')) not valid;

-- Only a text that is the product's own gets the link. Organisers who changed it add the link themselves.
update private.templates set body = 'Hello {{first_name}},

Thank you for your application to {{retreat}}. We have it, and we will get back to you soon.

If you change your mind, you can withdraw it here: {{withdraw_link}}

The organisers of {{retreat}}'
  where name = 'received' and subject = 'We have your application' and body = 'Hello {{first_name}},

Thank you for your application to {{retreat}}. We have it, and we will get back to you soon.

The organisers of {{retreat}}';
