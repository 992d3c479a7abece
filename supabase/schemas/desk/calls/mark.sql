-- Gives the caller's mark of an application, changes it, or takes it back (`mark` null). Returns the marks that the caller sees
-- afterwards.
create function public.desk_mark(act uuid, application uuid, mark text, why text default '') returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  line text := btrim(regexp_replace(coalesce(why, ''), E'[ \\t\\r\\n]+', ' ', 'g'));
  own private.marks;
begin
  if mark not in ('yes', 'maybe', 'no') then
    raise exception 'A mark is yes, maybe or no.' using errcode = '22023';
  elsif char_length(line) > 300 then
    raise exception 'The line about a mark has at most 300 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_mark', application::text, mark, why) then
    -- Serialises concurrent marks of an application, so that each takes the others into account.
    perform from public.retreat_applications where id = application for no key update;
    if not found then
      raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
    end if;
    select * into own from private.marks where application_id = application and account_id = me.id;
    if coalesce(own.mark, desk_mark.mark) is not null and (own.mark, own.why) is distinct from (desk_mark.mark, line) then
      insert into private.marks (application_id, account_id, author) values (application, me.id, me.email)
        on conflict do nothing;
      update private.marks set
        author = me.email, mark = desk_mark.mark, at = now(), why = case when desk_mark.mark is null then '' else line end,
        -- A change of the line alone does not make the mark less independent.
        is_after_seeing = case when marks.mark is not distinct from desk_mark.mark then is_after_seeing else has_seen or exists (
          select from private.marks as shown
          where shown.application_id = application and shown.account_id <> me.id and shown.was_shown
        ) end,
        was_shown = was_shown or desk_mark.mark is not null and exists (
          select from private.statuses where application_id = application and private.is_decision(status)
        )
      where application_id = application and account_id = me.id;
    end if;
    if desk_mark.mark is not null and exists (
      select from private.marks as another
      where another.application_id = application and another.account_id <> me.id and another.mark is not null
    ) then
      update private.marks as standing set has_seen = true
        where standing.application_id = application and standing.mark is not null and not has_seen;
    end if;
  end if;
  return private.marks_shown(application, me.id);
end
$$;
