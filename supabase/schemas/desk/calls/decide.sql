-- Sets statuses, each only if its version is still the one that the caller saw. `decisions` is an array of {id, status, version,
-- takes_back}. The result has the outcome of each. `kept`: it is saved. `stale`: not saved, since somebody else changed it; the
-- result says who, and to what. `told`: not saved, since it would undo (`takes_back`) a decision whose letter was sent or is
-- being sent. `withdrawn`: not saved, since the applicant withdrew the application and would not get the letter about the decision.
-- `gone`: the application was erased. `stopped`: how many letters on their way to the applicant the decision stopped. Repeating the
-- act changes nothing.
create function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  current_status private.statuses;
  outcome text;
  stopped_count integer;
  last_change record;
  outcomes jsonb := jsonb_build_array();
  is_repeat boolean;
begin
  if jsonb_array_length(decisions) > 1000 then
    raise exception 'At most 1,000 applications are decided at once.' using errcode = '22023';
  end if;
  is_repeat := not private.begin_act(act, 'desk_decide', decisions::text);
  -- After a day, the outcomes are read from the history.
  if is_repeat and exists (select from private.acts where acts.act = desk_decide.act and result is not null) then
    return (select result from private.acts where acts.act = desk_decide.act);
  end if;
  -- All are locked first, and sorted, so that two concurrent calls cannot deadlock.
  perform from public.retreat_applications
    where id in (select id from jsonb_to_recordset(decisions) as sent (id uuid)) order by id for no key update;
  for decision in
    select distinct on (id) id, status, version, takes_back
    from jsonb_to_recordset(decisions) as sent (id uuid, status text, version integer, takes_back boolean) order by id
  loop
    stopped_count := 0;
    perform from public.retreat_applications where id = decision.id;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, status, version) values (decision.id, 'new', 0) on conflict do nothing;
    select * into current_status from private.statuses where application_id = decision.id for update;
    select private.author_shown(author, author_id) as author, at into last_change
      from private.history where application_id = decision.id and kind = 'status' order by id desc limit 1;
    if is_repeat then
      outcome := case when decision.status = current_status.status or exists (
        select from private.history where application_id = decision.id and history.act = desk_decide.act
      ) then 'kept' else 'stale' end;
    elsif current_status.withdrawn_at is not null and private.is_decision(decision.status) then
      outcome := 'withdrawn';
    elsif decision.version is distinct from current_status.version then
      outcome := 'stale';
    elsif decision.takes_back and exists (
      select from private.letter_deliveries as delivery
      where delivery.application_id = decision.id and occasion = current_status.status and state in ('sending', 'sent')
    ) then
      outcome := 'told';
    else
      outcome := 'kept';
      if decision.status is distinct from current_status.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          decision.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', current_status.status)
        ) returning private.author_shown(author, author_id) as author, at into last_change;
        select count(*) into stopped_count from private.deliveries as delivery
          where delivery.application_id = decision.id and letter_id is not null and private.is_main(delivery) and state = 'waiting';
        -- The trigger `redraft` stops them.
        update private.statuses set status = decision.status, version = current_status.version + 1, set_at = now()
          where application_id = decision.id returning * into current_status;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', decision.id, 'outcome', outcome, 'status', current_status.status, 'version', current_status.version,
      'author', last_change.author, 'at', last_change.at, 'stopped', stopped_count
    );
  end loop;
  return private.end_act(act, outcomes);
end
$$;
