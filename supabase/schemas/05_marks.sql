-- Marks: each organiser's opinion of an application. Organisers see the marks of others once they have marked the application
-- themselves, or once it is decided.

create table private.marks (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  -- Not a reference, and the email as text: a mark outlives the account.
  account_id uuid not null,
  author text not null,
  -- Null: taken back. The row stays for `has_seen`.
  mark text check (mark in ('yes', 'maybe', 'no')),
  why text not null default '',
  at timestamptz not null default now(),
  -- Whether the author could see marks of others before giving this one, or before last changing its value.
  is_after_seeing boolean not null default false,
  -- Whether the author could see marks of others after giving this one.
  has_seen boolean not null default false,
  -- Whether everybody could see this mark, because the application was decided.
  was_shown boolean not null default false,
  primary key (application_id, account_id)
);
create index marks_of_account on private.marks (account_id, application_id) where mark is not null;
alter table private.marks enable row level security;

-- The marks that an organiser may see. Everything that shows, counts or sorts marks reads them here. The function sets no search
-- path, so that PostgreSQL can inline it. With subqueries in place of joins, PostgreSQL takes twice as long to read 100,000
-- marks.
create function private.visible_marks(account uuid) returns setof private.marks
  language sql stable
as $$
  select marks.* from private.marks
    left join private.marks as own on own.application_id = marks.application_id and own.account_id = account
    left join private.statuses as decided
      on decided.application_id = marks.application_id and private.is_decision(decided.status)
  where marks.mark is not null and (own.mark is not null or decided.status is not null)
$$;

-- A decision shows the marks of its application to everybody.
create function private.show_marks() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  update private.marks set was_shown = true
    where application_id = new.application_id and mark is not null and not was_shown;
  return null;
end
$$;

create trigger show_marks after insert or update on private.statuses
  for each row when (private.is_decision(new.status)) execute function private.show_marks();

-- For each application with visible marks: the organiser's own mark, and the numbers of yes, maybe and no.
create function private.mark_counts(applications uuid[], account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_object_agg(application_id, counts), '{}') from (
    select application_id, jsonb_build_object('own', max(mark) filter (where account_id = account),
      'yes', count(*) filter (where mark = 'yes'), 'maybe', count(*) filter (where mark = 'maybe'),
      'no', count(*) filter (where mark = 'no')) as counts
    from private.visible_marks(account) where application_id = any (applications) group by application_id
  ) as of_application
$$;

-- An organiser's own mark of an application, those of others, and the emails of those who have not marked it (without those who
-- only read). `others` and `missing` are null while they are hidden. The whole result is null if there is only one organiser.
create function private.marks_shown(application uuid, account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  with visible as materialized (
    select author, account_id, jsonb_build_object(
      'author', author, 'mark', mark, 'why', why, 'at', at, 'after_seeing', is_after_seeing) as shown
    from private.visible_marks(account) where application_id = application
  ), may_see as (
    select exists (select from visible where account_id = account)
      or exists (
        select from private.statuses where application_id = application and private.is_decision(status)
      ) as is_allowed
  )
  select jsonb_build_object(
    'own', (select shown from visible where account_id = account),
    'others', case when is_allowed then (
      select coalesce(jsonb_agg(shown order by author, account_id) filter (where account_id <> account), '[]') from visible
    ) end,
    'missing', case when is_allowed then (
      select coalesce(jsonb_agg(email order by email), '[]')
      from private.organisers join auth.users on users.id = account_id
      where not reads_only and not exists (select from visible where visible.account_id = organisers.account_id)
    ) end
  ) from may_see where private.is_shared()
$$;

-- Gives the caller's mark of an application, changes it, or takes it back (`mark` null). Returns the marks that the caller sees
-- afterwards.
create function public.desk_mark(act uuid, application uuid, mark text, why text default '') returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  line text := btrim(regexp_replace(coalesce(why, ''), E'[ \\t\\r\\n]+', ' ', 'g'));
  own private.marks;
begin
  if mark not in ('yes', 'maybe', 'no') then
    raise exception 'A mark is yes, maybe or no.' using errcode = '22023';
  elsif char_length(line) > 300 then
    raise exception 'The line about a mark has at most 300 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_mark', application::text, mark, why) then
    -- Serialises concurrent marks of an application, so that each takes the others into account.
    perform from public.retreat_applications where id = application for no key update;
    if not found then
      raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
    end if;
    select * into own from private.marks where application_id = application and account_id = me.id;
    if coalesce(own.mark, desk_mark.mark) is not null and (own.mark, own.why) is distinct from (desk_mark.mark, line) then
      insert into private.marks (application_id, account_id, author) values (application, me.id, me.email)
        on conflict do nothing;
      update private.marks set
        author = me.email, mark = desk_mark.mark, at = now(), why = case when desk_mark.mark is null then '' else line end,
        -- A change of the line alone does not make the mark less independent.
        is_after_seeing = case when marks.mark is not distinct from desk_mark.mark then is_after_seeing else has_seen or exists (
          select from private.marks as shown
          where shown.application_id = application and shown.account_id <> me.id and shown.was_shown
        ) end,
        was_shown = was_shown or desk_mark.mark is not null and exists (
          select from private.statuses where application_id = application and private.is_decision(status)
        )
      where application_id = application and account_id = me.id;
    end if;
    if desk_mark.mark is not null and exists (
      select from private.marks as another
      where another.application_id = application and another.account_id <> me.id and another.mark is not null
    ) then
      update private.marks as standing set has_seen = true
        where standing.application_id = application and standing.mark is not null and not has_seen;
    end if;
  end if;
  return private.marks_shown(application, me.id);
end
$$;
