-- Removes a template that organisers created, by its name, and its drafts.
create function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
begin
  if occasion in (select name from private.first_templates()) then
    raise exception 'The templates of the receipt, the decisions, the reminders and the confirmation stay.' using errcode = '22023';
  end if;
  delete from private.templates as template
    where name = occasion and template.version = desk_remove_template.version;
  if not found then
    if exists (select from private.templates where name = occasion) then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return jsonb_build_object('removed', false);
  end if;
  drafts := array(select id from private.letters where coalesce(template, '') = occasion and state = 'draft');
  perform private.lock_letters(drafts);
  update private.letters set state = 'dropped' where id = any (drafts) and state = 'draft';
  perform private.write_down_letters(me.email, jsonb_build_object('removed', occasion));
  return jsonb_build_object('removed', true);
end
$$;
