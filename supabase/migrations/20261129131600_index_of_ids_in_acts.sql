create index concurrently if not exists acts_ids on private.acts using gin (private.ids_in(result)) with (fastupdate = off)
  where jsonb_typeof(result) = 'array';
