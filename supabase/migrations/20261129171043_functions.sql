-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.

-- What tells junk apart, of some applications in their order. `same_reason` is a digest of the first thousand characters. It ends
-- after a second, with the applications that it has read by then.
create or replace function private.traits(ids uuid[]) returns table (
  id uuid, created_at timestamptz, person text, domain text, same_reason text, is_links boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  blanks constant text := '[' || private.blanks() || ']+';
  ends constant timestamptz := clock_timestamp() + interval '1 second';
begin
  for start in 1..cardinality(ids) by 50 loop
    exit when clock_timestamp() > ends;
    return query
      select application.id, application.created_at, private.person(email),
        lower(reverse(split_part(reverse(email), '@', 1))),
        -- Most blanks are spaces, for which `replace` is much faster.
        md5(regexp_replace(replace(lower(left(reason, 1000)), ' ', ''), blanks, '', 'g')),
        left(reason, 5000) ~* '^(?:[\s,;]*(?:https?://|www\.)\S+)+[\s,;]*$'
      from public.retreat_applications as application where application.id = any (ids[start:start + 49]);
  end loop;
end
$$;

revoke all on function private.traits(uuid[]) from public, anon, authenticated;

-- The 20 largest groups among the newest 20,000 applications that are New in the newest edition, the largest first. If finding
-- them takes a second, or reading them, fewer applications are grouped. `reason`: at least three addresses sent a reason with the
-- same beginning, ignoring blanks and case. `links`: the reason is nothing but links. `domain`: 20 or more applied within one
-- hour with addresses of the same domain, which is no large provider's. Each application is in at most one group.
create or replace function public.desk_junk() returns jsonb
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

create or replace function private.remember_erasures() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  gone constant text[] := array(select id from erased);
begin
  insert into private.erasures (digest)
    select encode(sha256(convert_to(id::text, 'UTF8')), 'hex') from erased on conflict do nothing;
  -- Remove them from the results of acts.
  update private.acts set result = (
      select coalesce(jsonb_agg(entry order by position), '[]')
      from jsonb_array_elements(result) with ordinality as of_act (entry, position)
      where not private.ids_in(entry) ?| gone
    )
    where jsonb_typeof(result) = 'array' and private.ids_in(result) ?| gone;
  return null;
end
$$;

drop function if exists private.applications_of(text[]);

-- The applications that gave an email, the newest first.
create or replace function private.applications_of(email text) returns uuid[]
  language sql stable set search_path = ''
as $$
  select array(
    select id from public.retreat_applications as application
    where private.person(application.email) = private.person(applications_of.email)
    order by created_at desc, id desc
  )
$$;

revoke all on function private.applications_of(text) from public, anon, authenticated;

-- The applications that gave another email, and to which only an address leads with which organisers ever replaced another. They may
-- be another person's: organisers mistype, too. `others`: more emails of the person. `address`: the replacement that leads to the
-- application, null if the application itself gave it. At most `most`, the newest first.
create or replace function private.applications_by_address(email text, others text[], most integer) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  person constant text := private.person(applications_by_address.email);
  people constant text[] := array(select private.person(given) from unnest(others || applications_by_address.email) as given);
begin
  return (
    with replacements as materialized (
      select application_id, address from private.addresses where private.person(address) = any (people)
      union select application_id, detail ->> 'address' from private.history
        where kind = 'address' and private.person(detail ->> 'address') = any (people)
    ), reached as (
      select application as row, (select min(address) from replacements where application_id = id) as address
      from public.retreat_applications as application
      where (private.person(application.email) = any (people) or id = any (array(select application_id from replacements)))
        and private.person(application.email) <> person
      order by created_at desc, id desc limit most
    )
    select coalesce(jsonb_agg(private.names(row) || jsonb_build_object(
      'id', (row).id, 'created_at', (row).created_at, 'email', (row).email, 'address', address
    ) order by (row).created_at desc, (row).id desc), '[]')
    from reached
  );
end
$$;

revoke all on function private.applications_by_address(text, text[], integer) from public, anon, authenticated;

-- The acts of the last day that name an application: those of its history, and those whose result has it, one of its letters or
-- one of its deliveries.
create or replace function private.acts_about(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  ids constant text[] := array(
    select application::text
    union all select id::text from private.letters where application_id = application
    union all select id::text from private.deliveries where application_id = application
  );
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'act', acts.act, 'at', at, 'call', call, 'author', email, 'result', own_result
    ) order by at, acts.act), '[]')
    from private.acts
      left join auth.users on users.id = account_id
      cross join lateral (
        -- The other entries of a list are about other people.
        select case when jsonb_typeof(result) = 'array' then (
          select jsonb_agg(entry) from jsonb_array_elements(result) as entry where private.ids_in(entry) ?| ids
        ) else result end as own_result
      ) as filtered
    where acts.act = any (array(
      select event.act from private.history as event where event.application_id = application
      union select named.act from private.acts as named
        where jsonb_typeof(named.result) = 'array' and private.ids_in(named.result) ?| ids
    ))
  );
end
$$;

-- Everything about the person of an email: {email, applications, left_out, by_address, account}. At most `most` applications, the
-- newest first, and `left_out` counts the others. `others`: more emails of this person. They lead only to `by_address`.
create or replace function private.all_about(
  email text, reader uuid default null, most integer default null, others text[] default '{}'
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  applications constant uuid[] := private.applications_of(all_about.email);
begin
  return jsonb_build_object(
    'email', all_about.email,
    'applications', (
      select coalesce(jsonb_agg(private.all_about_application(id, reader) order by position), '[]')
      from unnest(applications[:coalesce(most, cardinality(applications))]) with ordinality as one (id, position)
    ),
    'left_out', greatest(0, cardinality(applications) - most),
    'by_address', private.applications_by_address(all_about.email, others, most),
    'account', private.account_of(all_about.email, reader)
  );
end
$$;
