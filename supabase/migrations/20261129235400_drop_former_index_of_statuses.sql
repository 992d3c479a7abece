set local lock_timeout = '1s';

drop index private.statuses_newest;
