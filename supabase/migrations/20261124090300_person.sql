-- Who somebody is, as far as an e-mail tells: who applied twice, and whose applications are erased together. A digest,
-- because an index entry holds at most 2,704 bytes. Whose mailbox it is receipts ask, and throw more together.
create function private.person(email text) returns text
  language sql immutable parallel safe
  return md5(lower(btrim(email)));

revoke all on function private.person(text) from public, anon, authenticated;
grant execute on function private.person(text) to anon, service_role;

-- An application as an organiser may see it: its answers, of which who reads blind is shown those that are named here,
-- where it stands, and whether its e-mail applied again.
create or replace function private.shown(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select case
      when blind then jsonb_build_object(
        'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
        'custom_solution', application.custom_solution, 'team_size', application.team_size,
        'reason', application.reason, 'consent', application.consent)
      else to_jsonb(application)
    end
    || jsonb_build_object(
      'status', coalesce(standing.status, 'new'),
      'version', coalesce(standing.version, 0),
      'same_email', not blind and exists (
        select from public.retreat_applications as other
        where private.person(other.email) = private.person(application.email) and other.id <> application.id
      )
    )
  from (values (application.id)) as one (id) left join private.statuses as standing on application_id = one.id
$$;

-- One application with everything that is known of it.
create or replace function private.whole(application uuid, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
begin
  select * into given from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object(
    'application', private.shown(given, blind),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind,
        'detail', private.detail_shown(kind, detail, blind)) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', delivered_at, 'attempts', attempts, 'last_status', last_status,
        'next_attempt_at', next_attempt_at)
      from private.webhook_outbox where application_id = application
    ),
    'others', case when blind then '[]' else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'company', left(company, 200), 'status', status)), '[]')
      from (
        select id, other.created_at, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where private.person(email) = private.person(given.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

-- Erases applications of one e-mail for good, with all that is known of them. Only that it happened stays.
create or replace function public.desk_erase(applications uuid[], email text, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  erased integer;
begin
  -- In the order in which they are decided.
  perform from public.retreat_applications where id = any (applications) order by id for update;
  select (detail ->> 'applications')::integer into erased from private.history
    where application_id is null and history.act = desk_erase.act and kind = 'erased' and author = me.email;
  if found then
    return jsonb_build_object('erased', erased);
  end if;
  if exists (
    select from public.retreat_applications as application
    where id = any (applications)
      and private.person(application.email) is distinct from private.person(desk_erase.email)
  ) then
    raise exception 'This is not the e-mail of what is to be erased.' using errcode = '22023';
  end if;
  delete from public.retreat_applications as application
    where id = any (applications) and private.person(application.email) = private.person(desk_erase.email);
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (act, author, kind, detail) values (
      coalesce(desk_erase.act, gen_random_uuid()), me.email, 'erased', jsonb_build_object('applications', erased)
    );
  end if;
  return jsonb_build_object('erased', erased);
end
$$;

create index retreat_applications_person on public.retreat_applications (private.person(email));
drop index public.retreat_applications_same_email;
