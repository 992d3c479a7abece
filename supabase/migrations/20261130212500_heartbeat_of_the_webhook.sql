set local lock_timeout = '1s';

alter table private.postman add column webhook_seen_at timestamptz not null default '-infinity';
