create index concurrently if not exists invitations_not_coming on private.invitations (application_id) where rsvp = 'not coming';
