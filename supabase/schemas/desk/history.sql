-- The history: what organisers, applicants and servers did.

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
