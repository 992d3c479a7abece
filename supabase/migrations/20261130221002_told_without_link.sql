set local lock_timeout = '1s';

alter table private.invitations add column is_without_link boolean not null default false;
