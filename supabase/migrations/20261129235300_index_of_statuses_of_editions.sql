create index concurrently if not exists statuses_of_edition on private.statuses (edition, status, created_at desc, application_id desc);
