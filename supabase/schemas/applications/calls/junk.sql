-- The 20 largest groups among the newest 20,000 applications that are New in the newest edition, the largest first. If finding
-- them takes a second, or reading them, fewer applications are grouped. `reason`: at least three addresses sent a reason with the
-- same beginning, ignoring blanks and case. `links`: the reason is nothing but links. `domain`: 20 or more applied within one
-- hour with addresses of the same domain, which is no large provider's. Each application is in at most one group.
create function public.desk_junk() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  undecided_ids uuid[] := (private.find('{"status": "new"}', null, 20000, 50000, me.blind, me.id)).ids;
begin
  return (
    with undecided as materialized (
      select * from private.traits(undecided_ids)
    ), same_reasons as (
      select same_reason from undecided group by 1 having count(distinct person) >= 3
    ), counted as (
      select *, count(*) over (
        partition by domain order by created_at range between interval '1 hour' preceding and current row
      ) as in_an_hour
      from undecided
    ), judged as (
      select *, case
        when same_reason in (select same_reasons.same_reason from same_reasons) then 'reason'
        when is_links then 'links'
        when max(in_an_hour) over (
          partition by domain order by created_at range between current row and interval '1 hour' following
        ) >= 20 and not private.is_mailbox_provider(domain) then 'domain'
      end as kind
      from counted
    ), grouped as (
      select kind, case kind when 'reason' then same_reason when 'domain' then domain else '' end as key,
        array_agg(id order by created_at desc) as ids
      from judged where kind is not null group by 1, 2 order by count(*) desc, key limit 20
    )
    select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'key', case when kind = 'domain' and not me.blind then key end,
      'example', example, 'applications', applications) order by cardinality(ids) desc, key), '[]')
    from grouped
      cross join lateral (
        select left(regexp_replace(left(reason, 1000), '\s+', ' ', 'g'), 200) as example
        from public.retreat_applications where id = ids[1]
      ) as newest
      cross join lateral (
        select jsonb_agg(jsonb_build_object('id', id, 'status', 'new', 'version', coalesce(version, 0))
          || case when me.blind then '{}' else private.names(application) end order by position) as applications
        from unnest(ids) with ordinality as one (id, position)
          join public.retreat_applications as application using (id)
          left join private.statuses on application_id = id
      ) as members
  );
end
$$;
