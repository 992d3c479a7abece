-- Decisions: what organisers decide about applications. They are stored apart from the form answers and never change them.
-- Organisers have no rights on tables: they call the desk's functions.

create function private.remember_given() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.kind <> 'questions' then
    new.given := (select call || ' ' || given from private.acts where acts.act = new.act);
  end if;
  return new;
end
$$;

create trigger remember_given before insert on private.history
  for each row execute function private.remember_given();

-- Copies what lists sort and filter by from an application to its status.
create function private.copy_application() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  select created_at, edition into new.created_at, new.edition from public.retreat_applications where id = new.application_id;
  return new;
end
$$;

create trigger copy_application before insert on private.statuses for each row execute function private.copy_application();

-- Whether a status is a decision, about which applicants get a letter. Its template has the same name.
create function private.is_decision(status text) returns boolean
  language sql immutable parallel safe
  return status in ('accepted', 'waitlisted', 'declined');

-- Adds to an application's history.
create function private.write_down(application uuid, act uuid, author text, kind text, detail jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  -- Locks the application until commit: a concurrent erasure waits, or makes this call fail.
  perform from public.retreat_applications where id = application for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- An organiser may open an applicant's link. The request then has the organiser's account.
  insert into private.history (application_id, act, author, author_id, kind, detail) values (
    application, write_down.act, write_down.author, case when write_down.author <> 'applicant' then auth.uid() end,
    write_down.kind, write_down.detail
  ) on conflict do nothing;
end
$$;
