set local lock_timeout = '1s';

alter table private.history validate constraint history_kind_check;
