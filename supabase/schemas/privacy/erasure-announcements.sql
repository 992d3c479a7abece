-- Announcements: on seven days, servers tell organisers what they are going to erase automatically.

-- On how many days something is announced before it is erased: seven, or eight if there was a gap between two of them. A gap may
-- be a jump of the clock, which counted a day too many. Without a gap, the seventh day is `until`.
create function private.days_to_announce(announcement private.announcements) returns integer
  language sql immutable set search_path = ''
as $$
  select case when announcement.announced_on + 7 - announcement.days > announcement.until then 8 else 7 end
$$;

-- Counts today as a day of announcement. The first day announces everything that is due within six days, and the later days
-- announce the same. `erasable_until`: from the last of `private.days_to_announce` on, everything that is due up to this day may
-- be erased; null before. `is_new`: today was not counted before. A clock that jumps erases nothing: if the last announcement was
-- more than a month ago, or is in the future, the count starts again.
create function private.announce(
  edition integer, subject text, out erasable_until date, out is_new boolean
)
  language plpgsql set search_path = ''
as $$
declare
  today constant date := private.today();
begin
  insert into private.announcements as former (edition, subject, days, announced_on, until)
    values (announce.edition, announce.subject, 1, today, today + 6)
    on conflict on constraint announcements_pkey do update set announced_on = today,
      days = case when today - former.announced_on between 1 and 31 then former.days + 1 else 1 end,
      until = case when today - former.announced_on between 1 and 31 then former.until else today + 6 end
      where former.announced_on <> today;
  is_new := found;
  select least(until, today) into erasable_until from private.announcements
    where announcements.edition = announce.edition and announcements.subject = announce.subject
      and days >= private.days_to_announce(announcements);
end
$$;

-- Ends announcements after everything was erased, or because they became wrong. The history says how many applications were
-- erased.
create function private.end_announcements(edition integer, subject text) returns void
  language sql set search_path = ''
  begin atomic
    with ended as (
      delete from private.announcements as former
        where former.edition = end_announcements.edition and former.subject = end_announcements.subject returning *
    )
    insert into private.history (author, kind, detail)
      select 'server', 'retention', jsonb_build_object('edition', ended.edition, 'erased', erased) from ended where erased > 0;
  end;
