-- Only the stamp, which changes whenever the application does, for a desk that shows the application and polls for changes.
create function public.desk_stamp(application uuid) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object('stamp', private.stamp(application, me.id));
end
$$;
