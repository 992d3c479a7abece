-- The emails of an application: the one that it gave, and all with which organisers replaced it.
create function private.emails_of(application uuid) returns text[]
  language sql stable set search_path = ''
as $$
  select array(
    select email from public.retreat_applications where id = application
    union select address from private.addresses where application_id = application
    union select detail ->> 'address' from private.history where application_id = application and kind = 'address'
  )
$$;

-- Everything about the person of an application, with their hundred newest applications.
create function public.desk_all_about(application uuid) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  person_email text := (select email from public.retreat_applications where id = application);
begin
  if me.blind then
    raise exception 'Everything about a person is hidden while blind reading is on.' using errcode = '42501';
  elsif person_email is null then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return private.all_about(person_email, me.id, 100, private.emails_of(application));
end
$$;
