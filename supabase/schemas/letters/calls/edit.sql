-- Changes one draft. A blank subject and body restore its template's text, if it has one. `seen` says which text was read.
create function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
begin
  if me.blind then
    raise exception 'Switch blind reading off to edit a letter.' using errcode = '22023';
  elsif subject <> '' or body <> '' or exists (
    select from private.letters where id = desk_edit.letter and template is null
  ) then
    perform private.check_letter(subject, body);
  end if;
  perform private.lock_letters(array[desk_edit.letter]);
  select * into draft from private.letters where id = desk_edit.letter and state = 'draft';
  if not found then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif (draft.subject, draft.body) is not distinct from (nullif(desk_edit.subject, ''), nullif(desk_edit.body, '')) then
    return private.drafts_shown(array[draft.id], false) -> 0;
  elsif private.draft_text(draft, false) ->> 'seen' is distinct from seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set subject = nullif(desk_edit.subject, ''), body = nullif(desk_edit.body, ''),
    version = version + 1
    where id = draft.id;
  return private.drafts_shown(array[draft.id], false) -> 0;
end
$$;
