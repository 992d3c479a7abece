-- The organisers' calls that send, stop and retry letters. The server's part is in src/server/letters/.

-- Queues a released letter, which can be stopped for a minute. `text` has its subject and body.
create function private.queue_letter(letter private.letters, kind text, text jsonb, act uuid, author text) returns uuid
  language sql set search_path = ''
as $$
  insert into private.deliveries (kind, application_id, letter_id, subject, body, act, author, due_at)
    select queue_letter.kind, letter.application_id, letter.id, text ->> 'subject', text ->> 'body', queue_letter.act,
      queue_letter.author, now() + hold
    from private.letter_settings
    returning id
$$;

-- Releases drafts, an array of {id, seen}: they are sent after a minute. `seen` identifies the text that the organiser read: a
-- digest of the template's text, or the version of an edited letter (`draft_text`). For more than thirty letters, `number` must
-- equal their count. Letters that were sent before need `again`, except reminders. The result has the outcome of each.
-- `released`: it is queued. `gone`: it is no longer a draft, its decision is no longer current, or its questions cannot be answered
-- any more. `changed`: since it was read.
-- `missing`: a placeholder is blank or unknown. `long`: too long once filled in. `again`: sent before. Without a mail server the
-- decision goes to the automation, which emails the applicant.
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
    return (select result from private.acts where acts.act = desk_release.act);
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

-- Stops letters, given by their own ids or by the ids of their deliveries, or all letters of one act. Waiting deliveries are
-- cancelled, and their letters become drafts. A delivery that is being sent is recalled. If it is not accepted, `record_delivery`
-- cancels it, and its letter is drafted again. The result counts the applications: `withdrawn`, and `left` if their letter is
-- being sent or was sent.
create function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[];
  stopped uuid[];
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters || array(select id from private.deliveries where deliveries.act = desk_withdraw.act));
  -- Read after locking. For a letter's id, its latest delivery.
  wanted := array(
    select id from private.deliveries
    where id = any (desk_withdraw.letters) and kind in ('letter', 'decision', 'receipt')
      or deliveries.act = desk_withdraw.act and not is_beside
    union
    select newest.id
    from unnest(desk_withdraw.letters) as letter (id) cross join lateral (
      select id from private.deliveries as delivery
      where letter_id = letter.id and private.is_main(delivery) order by queued_at desc, id limit 1
    ) as newest
  );
  stopped := array(
    select id from private.deliveries where id = any (wanted) and state in ('waiting', 'sending') and recalled_at is null
  );
  perform private.recall(stopped, me.email);
  perform private.settle_letter(delivery) from private.deliveries as delivery
    where id = any (stopped) and state = 'cancelled' and private.is_main(delivery);
  return (
    select jsonb_build_object(
      'withdrawn', count(*) filter (where is_stopped and not has_left), 'left', count(*) filter (where has_left))
    from (
      select bool_or(state = 'cancelled' and recalled_by is not null) as is_stopped,
        bool_or(state in ('sending', 'done')) as has_left
      from private.deliveries where id = any (wanted) group by application_id
    ) as of_application
  );
end
$$;

-- Whether a delivery failed and can be tried again: no receipt older than a day, and no letter whose deadline has passed.
create function private.can_retry(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return delivery.state = 'failed' and delivery.kind in ('letter', 'decision', 'receipt')
    and (delivery.kind <> 'receipt' or delivery.queued_at > now() - interval '1 day') and not private.is_overdue(delivery);
end
$$;

-- Sends failed deliveries again if they can be tried again. The result counts those of the given deliveries that are then pending
-- or done.
create function private.retry_letters(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.retry_failed(array(
    select id from private.deliveries as delivery where id = any (wanted) and private.can_retry(delivery)
  ));
  return (select count(*) from private.deliveries where id = any (wanted) and state in ('waiting', 'sending', 'done'));
end
$$;

-- `letters` are the ids of deliveries.
create function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  return jsonb_build_object('retried', private.retry_letters(letters));
end
$$;

-- Records that an organiser sent a draft from their own mail program. `seen` is as for `desk_release`.
create function public.desk_sent_by_hand(letter uuid, seen text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  status_now text;
  text jsonb;
  delivery uuid;
begin
  if me.blind then
    raise exception 'Switch blind reading off to send a letter by hand.' using errcode = '22023';
  end if;
  perform private.lock_letters(array[desk_sent_by_hand.letter]);
  select * into draft from private.letters where id = desk_sent_by_hand.letter;
  select newest.id into delivery from (
    select * from private.deliveries as own
    where letter_id = draft.id and private.is_main(own) order by queued_at desc, id limit 1
  ) as newest where by = 'hand' and author = me.email;
  if draft.state = 'released' and delivery is not null and not private.is_undelivered(draft.id) then
    -- The caller repeats the change, because the response of the first call was lost.
    return private.letter_deliveries_shown(array[delivery], false) -> 0;
  end if;
  select status into status_now from private.statuses where application_id = draft.application_id;
  text := case when draft.state = 'draft' then private.draft_text(draft, false) end;
  if text is null or text ->> 'seen' is distinct from seen
    or (private.is_decision(draft.template) and draft.template is distinct from status_now)
  then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'This letter is too long once filled in.' using errcode = '22023';
  end if;
  update private.letters set state = 'released' where id = draft.id;
  delivery := private.queue_letter(draft, 'letter', text, null, me.email);
  update private.deliveries set state = 'done', done_at = now(), due_at = null, by = 'hand' where id = delivery;
  perform private.withdraw_receipt(draft.application_id);
  return private.letter_deliveries_shown(array[delivery], false) -> 0;
end
$$;

-- Resends an undelivered letter to another address. All later letters to this applicant go there, too. The letter can be stopped
-- for a minute, as after its release. `letter` is the id of the failed delivery.
create function public.desk_readdress(act uuid, letter uuid, address text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  failed private.deliveries;
begin
  if me.blind then
    raise exception 'Switch blind reading off to change an address.' using errcode = '22023';
  elsif coalesce(char_length(address), 0) > 254
    or coalesce(address, '') !~ '^[^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+$'
  then
    raise exception 'This is not a single email address.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_readdress', letter::text, address) then
    perform private.lock_letters(array[letter]);
    select * into failed from private.deliveries where id = letter;
    if (failed.kind, failed.state) is distinct from ('letter', 'failed') then
      raise exception 'This letter no longer needs another address.' using errcode = 'PT409';
    end if;
    perform private.write_down(failed.application_id, act, me.email, 'address',
      jsonb_build_object('address', address, 'occasion', (
        select coalesce(template, '') from private.letters where id = failed.letter_id)));
    insert into private.addresses (application_id, address) values (failed.application_id, desk_readdress.address)
      on conflict (application_id) do update set address = excluded.address;
    perform private.retry_failed(array[failed.id]);
    update private.deliveries set due_at = now() + (select hold from private.letter_settings) where id = failed.id;
  end if;
  return private.letter_deliveries_shown(array[letter], false) -> 0;
end
$$;

-- Records that organisers reached the applicants in another way after letters failed. `letters` are the ids of the failed
-- deliveries. The result counts these deliveries.
create function public.desk_settle(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  perform private.lock_deliveries(letters);
  with settled as (
    update private.deliveries set state = 'done', done_at = now(), by = 'elsewhere', reply = ''
      where id = any (desk_settle.letters) and kind in ('letter', 'decision', 'receipt') and state = 'failed'
      returning id
  )
  insert into private.history (application_id, author, kind, detail)
    select application_id, me.email, 'told', jsonb_build_object('occasion', occasion, 'way', way)
    from settled join private.letter_deliveries using (id);
  return (
    select jsonb_build_object('settled', count(*)) from private.deliveries
    where id = any (desk_settle.letters) and state = 'done' and by = 'elsewhere'
  );
end
$$;
