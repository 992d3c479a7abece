create index concurrently if not exists history_withdrawals on private.history (at) where kind = 'withdrawal';
