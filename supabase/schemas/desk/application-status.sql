-- Statuses of applications. They are stored apart from the form answers and never change them.

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
