set local lock_timeout = '1s';

-- With a default, no row is written anew.
alter table private.statuses add column edition integer not null default 1;
alter table private.statuses alter column edition drop default;

create function private.copy_application() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  select created_at, edition into new.created_at, new.edition from public.retreat_applications where id = new.application_id;
  return new;
end
$$;
revoke all on function private.copy_application() from public, anon, authenticated;

create trigger copy_application before insert on private.statuses
  for each row execute function private.copy_application();

-- Marks that were shown stay as they are.
alter table private.statuses disable trigger show_marks;
update private.statuses set edition = application.edition from public.retreat_applications as application
  where application.id = application_id and application.edition <> 1;
alter table private.statuses enable trigger show_marks;
