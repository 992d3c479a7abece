-- Remembers that the caller has seen the notes about an application up to a time.
create function public.desk_see_notes(application uuid, until timestamptz) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  insert into private.seen_notes (application_id, account_id, until)
    select id, me.id, least(desk_see_notes.until, now()) from public.retreat_applications where id = application for key share
    on conflict (application_id, account_id) do update set until = greatest(private.if_past(seen_notes.until), excluded.until);
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object('until', private.notes_seen_until(application, me.id));
end
$$;
