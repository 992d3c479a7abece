-- Junk: applications that look as if a program had sent them. The desk suggests them, and an organiser puts them aside.

-- The 20 largest groups among the newest 20,000 applications that are New in the newest edition, the largest first. If finding
-- them takes a second, fewer applications are grouped. `reason`: at least three addresses sent the same reason, ignoring blanks
-- and case. `links`: the reason is nothing but links. `domain`: 20 or more applied within one hour with addresses of the same
-- domain, which is no large provider's. Each application is in at most one group.
create function public.desk_junk() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  undecided_ids uuid[] := (private.find('{"status": "new"}', null, 20000, 50000, me.blind, me.id)).ids;
begin
  return (
    with undecided as materialized (
      select id, application.created_at, private.names(application) as names, reason, coalesce(version, 0) as version,
        private.person(email) as person,
        lower(reverse(split_part(reverse(email), '@', 1))) as domain,
        -- `translate` takes half the time of a regular expression.
        md5(lower(translate(left(reason, 5000), private.blanks(), ''))) as same_reason
      from unnest(undecided_ids) as newest (id)
        join public.retreat_applications as application using (id)
        left join private.statuses on application_id = id
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
        when left(reason, 5000) ~* '^(?:[\s,;]*(?:https?://|www\.)\S+)+[\s,;]*$' then 'links'
        when max(in_an_hour) over (
          partition by domain order by created_at range between current row and interval '1 hour' following
        ) >= 20 and not private.is_mailbox_provider(domain) then 'domain'
      end as kind
      from counted
    ), grouped as (
      select kind, case kind when 'reason' then same_reason when 'domain' then domain else '' end as key, count(*) as count,
        (array_agg(left(regexp_replace(left(reason, 1000), '\s+', ' ', 'g'), 200) order by created_at desc))[1] as example,
        jsonb_agg(jsonb_build_object('id', id, 'status', 'new', 'version', version)
          || case when me.blind then '{}' else names end order by created_at desc) as applications
      from judged where kind is not null group by 1, 2 order by count desc, key limit 20
    )
    select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'key', case when kind = 'domain' and not me.blind then key end,
      'example', example, 'applications', applications) order by count desc, key), '[]')
    from grouped
  );
end
$$;
