create index concurrently if not exists invitations_without_link on private.invitations (told_at, application_id) where is_without_link;
