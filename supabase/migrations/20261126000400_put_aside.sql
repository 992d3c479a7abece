-- Checks the statuses while decisions are stored.
alter table private.statuses validate constraint statuses_status_check;
