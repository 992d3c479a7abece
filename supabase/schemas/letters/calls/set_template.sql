-- Changes the template with the name `occasion`, or creates one (version null). Drafts that nobody edited change with it.
create function public.desk_set_template(occasion text, version integer, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  saved private.templates;
begin
  if coalesce(occasion, '') !~ '^[^[:cntrl:]]{1,60}$' or occasion <> btrim(occasion) then
    raise exception 'A template has a name of 1 to 60 characters.' using errcode = '22023';
  end if;
  perform private.check_template(occasion, subject, body);
  if version is null then
    insert into private.templates as template (name, subject, body)
      values (occasion, desk_set_template.subject, desk_set_template.body)
      on conflict do nothing returning * into saved;
  end if;
  if saved.name is null then
    -- A reminder or a letter that begins meanwhile does not wait for this lock.
    select * into saved from private.templates where name = occasion for no key update;
    if (saved.subject, saved.body) = (desk_set_template.subject, desk_set_template.body) then
      return private.template_shown(saved);
    elsif (saved.version = desk_set_template.version) is not true then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    update private.templates as template
      set subject = desk_set_template.subject, body = desk_set_template.body, version = saved.version + 1
      where name = occasion returning * into saved;
  end if;
  perform private.write_down_letters(me.email, jsonb_build_object('template', occasion));
  return private.template_shown(saved);
end
$$;
