set local lock_timeout = '1s';

alter table private.organisers add column is_reader boolean not null default false;

alter table private.history drop constraint history_kind_check,
  add constraint history_kind_check check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address',
    'told', 'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention', 'page', 'returned', 'organiser')) not valid;
