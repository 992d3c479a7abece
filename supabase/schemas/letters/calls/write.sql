-- Drafts letters of a template; with `again`, even if it was sent before. The result has the outcome of each: drafted, written (a
-- draft or a letter exists already, in the returned `state`), undecided (another decision is current), withdrawn (the applicant
-- withdrew) or gone. Repeating the act drafts none and returns the first result. A desk of version 1.0 sends no `act`.
create function public.desk_write(applications uuid[], occasion text, again boolean default false, act uuid default null)
  returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid;
  status_now text;
  outcome text;
  outcomes jsonb := jsonb_build_array();
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 letters are drafted at once.' using errcode = '22023';
  elsif occasion = 'received' then
    raise exception 'A receipt is sent automatically, and only to its applicant.' using errcode = '22023';
  end if;
  -- Locked until commit, so that removing the template also removes these drafts.
  perform from private.templates where name = occasion for key share;
  if not found then
    raise exception 'There is no template of this name.' using errcode = '22023';
  end if;
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_write', applications::text, occasion, again::text) then
    return (select result from private.acts where acts.act = desk_write.act);
  end if;
  perform private.lock_for_letters(applications);
  for application in select distinct unnest(applications) as id order by id loop
    perform from public.retreat_applications where id = application;
    outcome := case when not found then 'gone' end;
    if outcome is null then
      select status into status_now from private.statuses where application_id = application;
      outcome := case
        when private.is_withdrawn(application) then 'withdrawn'
        when private.is_decision(occasion) and occasion is distinct from status_now then 'undecided'
        when private.draft_from_template(application, occasion, coalesce(again, false)) is null then 'written'
        else 'drafted'
      end;
    end if;
    outcomes := outcomes || jsonb_build_object('application', application, 'outcome', outcome,
      'state', case outcome when 'written' then coalesce(
        (select state from private.letters where application_id = application and template = occasion and state = 'draft'),
        -- A pending or failed delivery takes precedence over a sent one.
        (
          select state from private.letter_deliveries as delivery
          where application_id = application and delivery.occasion = desk_write.occasion and is_main and state <> 'withdrawn'
          order by state = 'sent' limit 1
        )) end);
  end loop;
  return private.end_act(act, outcomes);
end
$$;
