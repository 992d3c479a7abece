-- What is due is found by its time alone, which only a letter has that is to leave.

-- Nothing known leaves one without its time, or with a time too many; the check must not keep a server from starting.
update private.letters set due_at = case when state in ('waiting', 'sending') then now() end
  where (state in ('waiting', 'sending')) <> (due_at is not null);
alter table private.letters add check ((state in ('waiting', 'sending')) = (due_at is not null));

drop index private.letters_due;
create index letters_due on private.letters (due_at)
  where way = 'mail' and occasion <> 'received' and due_at is not null;
drop index private.receipts_due;
create index receipts_due on private.letters (due_at)
  where way = 'mail' and occasion = 'received' and due_at is not null;
drop index private.decisions_due;
create index decisions_due on private.letters (due_at) where way = 'automation' and due_at is not null;
