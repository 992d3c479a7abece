-- Drafts a letter to one person, without a template. Repeating the act drafts none.
create function public.desk_write_to(act uuid, application uuid, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    raise exception 'Switch blind reading off to write to an applicant.' using errcode = '22023';
  end if;
  perform private.check_letter(subject, body);
  if not private.begin_act(act, 'desk_write_to', application::text, subject, body) then
    return private.drafts_shown(array[act], false) -> 0;
  end if;
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  perform private.refuse_withdrawn(application);
  insert into private.letters (id, application_id, subject, body)
    values (act, application, desk_write_to.subject, desk_write_to.body) on conflict do nothing;
  return private.drafts_shown(array[act], false) -> 0;
end
$$;
