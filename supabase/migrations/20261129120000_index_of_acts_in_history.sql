create index concurrently if not exists history_acts on private.history (act);
