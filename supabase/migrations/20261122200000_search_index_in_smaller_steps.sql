-- The search index takes new rows in passing, and sorts them in when so many kilobytes wait: whoever inserts then waits.
-- Smaller steps make that wait shorter, and sort a little more often (docs/decisions/0019 has the figures).
alter index public.retreat_applications_search set (gin_pending_list_limit = 256);
