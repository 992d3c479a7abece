-- Columns that nothing has used since 1.3.0.
set local lock_timeout = '1s';
-- An application that is being stored may still run a function of 1.2, which reads the door's column.
lock table public.retreat_applications in share row exclusive mode;
alter table private.door drop column edition_since;
alter table private.editions drop column since, drop column before;
alter table private.templates drop column kind;
