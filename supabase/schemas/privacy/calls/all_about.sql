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
