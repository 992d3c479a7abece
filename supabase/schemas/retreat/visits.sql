-- Visits: how often the applicants' page was opened and used, by day and by the `from` in its address. Nothing is about a person.

-- Adds a server's counts to those of today: `counts` has the visits and starts of each source. A day has at most 200 different
-- names, of all servers together.
create function private.count_visits(counts jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  today date := private.today();
  free_names integer;
begin
  -- One batch after the other, so that two servers neither exceed the limit together nor deadlock.
  lock table private.visits in share row exclusive mode;
  select 200 - count(*) into free_names from private.visits where day = today and source not in ('', 'other');
  insert into private.visits as stored (day, source, visits, starts)
    select today, case when is_known or position <= free_names then source else 'other' end, sum(visits), sum(starts)
    from (
      select batch.*, is_known, row_number() over (partition by is_known order by batch.visits desc, source) as position
      from jsonb_to_recordset(counts) as batch (source text, visits integer, starts integer)
        cross join lateral (
          select source in ('', 'other')
            or exists (select from private.visits as former where former.day = today and former.source = batch.source)
        ) as known (is_known)
    ) as numbered
    group by 2
  on conflict (day, source) do update
    set visits = stored.visits + excluded.visits, starts = stored.starts + excluded.starts;
end
$$;
