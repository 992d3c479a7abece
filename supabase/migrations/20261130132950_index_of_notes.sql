create index concurrently if not exists history_notes on private.history (application_id, at) where kind = 'note';
