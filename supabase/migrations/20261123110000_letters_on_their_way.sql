-- Letters, receipts and notices on their way: what servers need to know of each other to carry them.

alter table private.postman
  -- Since when the mail server takes nothing from anybody; null while it does.
  add column failing_since timestamptz;
