-- Erasing, and what backups have to know about it.

-- The erased applications and private answers, each by a digest of its random ids, so that a restore can erase them again. A row
-- is written in the transaction of the erasure, and copied next to the backups.
create table private.erasures (
  digest text primary key,
  erased_at timestamptz not null default now()
);
alter table private.erasures enable row level security;

create function private.remember_erasures() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  gone constant text[] := array(select id from erased);
begin
  insert into private.erasures (digest)
    select encode(sha256(convert_to(id::text, 'UTF8')), 'hex') from erased on conflict do nothing;
  -- Another call may be deleting expired acts, and wait for these applications.
  perform private.delete_expired_acts(null);
  -- Remove them from the results of acts.
  update private.acts set result = (
      select coalesce(jsonb_agg(entry order by position), '[]')
      from jsonb_array_elements(result) with ordinality as of_act (entry, position)
      where not private.ids_in(entry) ?| gone
    )
    where act = any (array(
      select act from private.acts
      where at >= now() - interval '1 day' and jsonb_typeof(result) = 'array' and private.ids_in(result) ?| gone
      order by act for update
    ));
  return null;
end
$$;

create trigger remember_erasures after delete on public.retreat_applications
  referencing old table as erased for each statement execute function private.remember_erasures();

-- The id of this database, and of databases restored from its backups. Servers use it to avoid removing another database's
-- backups.
create table private.installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);
insert into private.installation default values;
alter table private.installation enable row level security;

-- Locks applications that the caller erases, in the order of locks, and the questions that they answered.
create function private.lock_for_erasing(applications uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from public.retreat_applications where id = any (applications) order by id for update;
  perform from private.questions
    where edition in (select edition from public.retreat_applications where id = any (applications))
    order by id for key share;
end
$$;

-- Permanently erases applications of one email, with everything that is known about them. The history records only who
-- erased how many.
create function public.desk_erase(applications uuid[], email text, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  erased integer;
begin
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_erase', applications::text, email) then
    return coalesce((select result from private.acts where acts.act = desk_erase.act), (
      select jsonb_build_object('erased', detail -> 'applications') from private.history where history.act = desk_erase.act
    ));
  end if;
  perform private.lock_for_erasing(applications);
  if exists (
    select from public.retreat_applications as application
    where id = any (applications)
      and private.person(application.email) is distinct from private.person(desk_erase.email)
  ) then
    raise exception 'This is not the email of this application. Nothing was erased.' using errcode = '22023';
  end if;
  delete from public.retreat_applications as application
    where id = any (applications) and private.person(application.email) = private.person(desk_erase.email);
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (act, author, kind, detail)
      values (desk_erase.act, me.email, 'erased', jsonb_build_object('applications', erased));
  end if;
  return private.end_act(act, jsonb_build_object('erased', erased));
end
$$;
