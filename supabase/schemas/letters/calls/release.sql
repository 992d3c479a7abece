-- Releases drafts, an array of {id, seen}: they are sent after a minute. `seen` identifies the text that the organiser read: a
-- digest of the template's text, or the version of an edited letter (`draft_text`). For more than thirty letters, `number` must
-- equal their count. Letters that were sent before need `again`, except reminders. The result has the outcome of each.
-- `released`: it is queued. `gone`: it is no longer a draft, its decision is no longer current, or its questions cannot be answered
-- any more. `withdrawn`: the applicant withdrew the application. `changed`: since it was read. `missing`: a placeholder is blank or
-- unknown. `long`: too long once filled in. `again`: sent before. Without a mail server the decision goes to the automation, which
-- emails the applicant. Repeating the act changes nothing; letters that were released and then stopped are `changed`.
create function public.desk_release(
  act uuid, letters jsonb, number integer default null, again boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[] := array(select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one);
  sent record;
  letter private.letters;
  status_now text;
  text jsonb;
  outcome text;
  outcomes jsonb := jsonb_build_array();
  is_postman_there boolean;
  is_automation_there boolean;
begin
  select private.is_recent(seen_at), private.is_recent(automation_seen_at)
    into is_postman_there, is_automation_there from private.postman;
  if cardinality(wanted) > 1000 then
    raise exception 'At most 1,000 letters are released at once.' using errcode = '22023';
  elsif cardinality(wanted) > 30 and number is distinct from cardinality(wanted) then
    raise exception 'The number does not match: these are % letters.', cardinality(wanted) using errcode = '22023';
  elsif not private.begin_act(act, 'desk_release', letters::text, again::text) then
    return (
      select coalesce(jsonb_agg(
        case when former ->> 'outcome' = 'released' and exists (
          select from private.letters as draft where draft.id = (former ->> 'id')::uuid and state = 'draft'
        ) then former || '{"outcome": "changed"}' else former end
        order by position
      ), '[]')
      from private.acts cross join jsonb_array_elements(result) with ordinality as outcomes (former, position)
      where acts.act = desk_release.act
    );
  elsif not (is_postman_there or is_automation_there) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  elsif not is_postman_there and exists (
    select from private.letters as draft
    where id = any (wanted) and not private.is_decision(coalesce(draft.template, ''))
  ) then
    raise exception 'Only decisions go to the automation, and no server with a mail server is running.'
      using errcode = 'PT409';
  end if;
  perform private.lock_letters(wanted);
  for sent in
    select distinct on (draft.application_id, wanted.id) wanted.id, draft.application_id, wanted.seen
    from jsonb_to_recordset(letters) as wanted (id uuid, seen text) left join private.letters as draft using (id)
    order by draft.application_id, wanted.id
  loop
    select status into status_now from private.statuses where application_id = sent.application_id;
    select * into letter from private.letters where id = sent.id;
    -- Filled in once, so that the released text is the checked one. The result does not have this text, so blind readers do
    -- not see it.
    text := case when letter.state = 'draft' then private.draft_text(letter, false) end;
    outcome := case
      when letter.state is distinct from 'draft'
        or private.is_decision(letter.template) and letter.template is distinct from status_now
        or letter.template = 'questions' and not private.are_questions_open(private.edition_of(letter.application_id))
        then 'gone'
      when private.is_withdrawn(letter.application_id) then 'withdrawn'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when not coalesce(again, false) and coalesce(letter.template, '') not in ('reminder', 'questions') and private.times_told(letter.id) > 0
        then 'again'
    end;
    if outcome is null then
      update private.letters set state = 'released' where id = letter.id;
      perform private.queue_letter(letter, case when is_postman_there then 'letter' else 'decision' end, text, act, me.email);
      perform private.withdraw_receipt(letter.application_id);
      outcome := 'released';
    end if;
    outcomes := outcomes || jsonb_build_object('id', sent.id, 'application', sent.application_id, 'outcome', outcome);
  end loop;
  return private.end_act(act, outcomes);
end
$$;
