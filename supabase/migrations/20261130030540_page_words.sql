set local lock_timeout = '1s';

create table private.page (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  title text not null default '',
  tagline text not null default '',
  badge text not null default '',
  success text not null default '',
  privacy_url text not null default '',
  privacy_label text not null default '',
  accent text not null default '',
  cost text not null default '',
  hear_back text not null default '',
  about text not null default '',
  shows_days boolean not null default true,
  shows_venue boolean not null default true,
  shows_closing boolean not null default true,
  operator_title text not null default ''
);
-- Days, a venue or a closing time that are set already are not shown on the page before an organiser wants that.
insert into private.page (shows_days, shows_venue, shows_closing)
  select not is_used, not is_used, not is_used
  from (
    select exists (select from private.editions where starts_on is not null or venue <> '')
      or exists (select from private.door where closes_at is not null) as is_used
  ) as former;
alter table private.page enable row level security;
revoke all on table private.page from public, anon, authenticated;

alter table private.history drop constraint history_kind_check,
  add constraint history_kind_check check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address',
    'told', 'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention', 'page')) not valid;
