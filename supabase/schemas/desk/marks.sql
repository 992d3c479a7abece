-- Marks: each organiser's opinion of an application. Organisers see the marks of others once they have marked the application
-- themselves, or once it is decided.

-- Whether there are several organisers. A single one needs no marks.
create function private.is_shared() returns boolean
  language sql stable set search_path = ''
as $$
  select count(*) > 1 from (select from private.organisers limit 2) as organisers
$$;

-- The marks that an organiser may see. Everything that shows, counts or sorts marks reads them here. The function sets no search
-- path, so that PostgreSQL can inline it. With subqueries in place of joins, PostgreSQL takes twice as long to read 100,000
-- marks.
create function private.visible_marks(account uuid) returns setof private.marks
  language sql stable
as $$
  select marks.application_id, marks.account_id, coalesce(organisers.name, marks.author), marks.mark, marks.why, marks.at,
    marks.is_after_seeing, marks.has_seen, marks.was_shown
  from private.marks
    left join private.organisers using (account_id)
    left join private.marks as own on own.application_id = marks.application_id and own.account_id = account
    left join private.statuses as decided
      on decided.application_id = marks.application_id and private.is_decision(decided.status)
  where marks.mark is not null and (own.mark is not null or decided.status is not null)
$$;

-- Whether anybody has marked an application of an edition. Marks from before the edition began are not looked up, since there may
-- be many.
create function private.is_marked(edition integer) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.editions
      join private.marks on marks.at >= editions.began_at
      join public.retreat_applications as application on application.id = marks.application_id
    where editions.id = is_marked.edition and mark is not null and application.edition = is_marked.edition
  )
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

-- For each application with visible marks: the organiser's own mark, the numbers of yes, maybe and no, and `by`: the author and
-- the mark of each.
create function private.mark_counts(applications uuid[], account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_object_agg(application_id, counts), '{}') from (
    select application_id, jsonb_build_object('own', max(mark) filter (where account_id = account),
      'yes', count(*) filter (where mark = 'yes'), 'maybe', count(*) filter (where mark = 'maybe'),
      'no', count(*) filter (where mark = 'no'), 'by', jsonb_agg(jsonb_build_array(author, mark) order by author, account_id)) as counts
    from private.visible_marks(account) where application_id = any (applications) group by application_id
  ) as of_application
$$;

-- An organiser's own mark of an application, those of others, and who has not marked it (without those who only read). `others`
-- and `missing` are null while they are hidden. The whole result is null if there is only one organiser.
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
      select coalesce(jsonb_agg(coalesce(name, email) order by coalesce(name, email)), '[]')
      from private.organisers join auth.users on users.id = account_id
      where not reads_only and not exists (select from visible where visible.account_id = organisers.account_id)
    ) end
  ) from may_see where private.is_shared()
$$;
