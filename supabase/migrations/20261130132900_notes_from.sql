set local lock_timeout = '1s';

alter table private.organisers add column notes_from timestamptz not null default now();
