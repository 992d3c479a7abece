create index concurrently if not exists statuses_withdrawn on private.statuses (edition, status) where withdrawn_at is not null;
