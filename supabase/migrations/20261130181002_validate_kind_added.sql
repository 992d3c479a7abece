-- Checks the kinds of the history.
alter table private.history validate constraint history_kind_check;
