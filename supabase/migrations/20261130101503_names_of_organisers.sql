set local lock_timeout = '1s';

alter table private.organisers add column name text
  constraint organisers_name check (name <> '' and char_length(name) <= 60 and name !~ '[[:cntrl:]]');
