-- Erasing, and what backups have to know about it.

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

-- Permanently erases applications, with everything that is known about them. The history records only who erased how many. Returns
-- the number.
create function private.erase_applications(applications uuid[], author text, act uuid default gen_random_uuid()) returns integer
  language plpgsql set search_path = ''
as $$
declare
  erased integer;
begin
  perform private.lock_for_erasing(applications);
  delete from public.retreat_applications where id = any (applications);
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (act, author, kind, detail)
      values (erase_applications.act, erase_applications.author, 'erased', jsonb_build_object('applications', erased));
  end if;
  return erased;
end
$$;
