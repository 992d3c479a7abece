-- Decisions: what organisers decide about applications. They are stored apart from the form answers and never change them.
-- Organisers have no rights on tables: they call the desk's functions.

-- The status of an application. No row means New, so that storing an application writes no second row.
create table private.statuses (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  -- A copy of the application's `created_at`, so that a list of one status has the same order as the list of all.
  created_at timestamptz not null,
  -- `aside`: junk that organisers put aside.
  status text not null check (status in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined', 'aside')),
  -- Incremented by each change. A decision has to name the version that the organiser saw.
  version integer not null,
  -- When this status was set.
  set_at timestamptz not null default now()
);
create index statuses_newest on private.statuses (status, created_at desc, application_id desc);
-- Lists the people who have been waitlisted longest.
create index statuses_waitlist on private.statuses (set_at, application_id) where status = 'waitlisted';
alter table private.statuses enable row level security;

-- The events of an application, or of the desk as a whole. Rows are added, never changed, and are erased with their application.
-- The history is shown, and rate limits count its rows. Settings are not read from it: they are columns of other tables.
create table private.history (
  id bigint generated always as identity primary key,
  application_id uuid references public.retreat_applications (id) on delete cascade,
  -- The id of the act (05_acts.sql).
  act uuid not null default gen_random_uuid(),
  at timestamptz not null default now(),
  -- The email address as text, so that it stays when the account is removed.
  author text not null,
  -- `address`: an organiser replaced the applicant's address. `told`: a letter failed, and an organiser told the applicant
  -- another way. `answer`: an RSVP. `questions`: answers to questions, or the questions themselves. `edition`: the next retreat
  -- began, or a retreat got a name. `kept`: an organiser set the applicant's deadline. `link`: an organiser got the applicant's
  -- link. `hold`: an organiser put a hold on the application, or ended it. `retention`: the months of the retention changed, or
  -- due applications were erased.
  kind text not null check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address', 'told',
    'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention')),
  detail jsonb not null default '{}',
  -- The author's account; null for applicants and for commands. Not a foreign key, so that it also stays when the account is
  -- removed.
  author_id uuid default auth.uid(),
  -- The call of the act with the digest of its arguments, which recognise a repeat. Null for answers to questions, which a digest would
  -- reveal after they are erased, and for events from before 1.2.1.
  given text,
  unique (application_id, act)
);
create index history_of_no_application on private.history (id) where application_id is null;
create index history_acts on private.history (act);
create index history_answers on private.history (at) where kind = 'answer';
alter table private.history enable row level security;

create function private.remember_given() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.kind <> 'questions' then
    new.given := (select call || ' ' || given from private.acts where acts.act = new.act);
  end if;
  return new;
end
$$;

create trigger remember_given before insert on private.history
  for each row execute function private.remember_given();

-- Whether a status is a decision, about which applicants get a letter. Its template has the same name.
create function private.is_decision(status text) returns boolean
  language sql immutable parallel safe
  return status in ('accepted', 'waitlisted', 'declined');

-- Adds to an application's history.
create function private.write_down(application uuid, act uuid, author text, kind text, detail jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  -- Locks the application until commit: a concurrent erasure waits, or makes this call fail.
  perform from public.retreat_applications where id = application for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- An organiser may open an applicant's link. The request then has the organiser's account.
  insert into private.history (application_id, act, author, author_id, kind, detail) values (
    application, write_down.act, write_down.author, case when write_down.author <> 'applicant' then auth.uid() end,
    write_down.kind, write_down.detail
  ) on conflict do nothing;
end
$$;

-- Sets statuses, each only if its version is still the one that the caller saw. `decisions` is an array of {id, status, version,
-- takes_back}. The result has the outcome of each. `kept`: it is saved. `stale`: not saved, since somebody else changed it; the
-- result says who, and to what. `told`: not saved, since it would undo (`takes_back`) a decision whose letter was sent or is
-- being sent. `gone`: the application was erased. Repeating the act changes nothing.
create function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  application record;
  current_status private.statuses;
  outcome text;
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
    select id, created_at into application from public.retreat_applications where id = decision.id;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, created_at, status, version)
      values (application.id, application.created_at, 'new', 0) on conflict do nothing;
    select * into current_status from private.statuses where application_id = application.id for update;
    select author, at into last_change
      from private.history where application_id = application.id and kind = 'status' order by id desc limit 1;
    if is_repeat then
      outcome := case when decision.status = current_status.status or exists (
        select from private.history where application_id = application.id and history.act = desk_decide.act
      ) then 'kept' else 'stale' end;
    elsif decision.version is distinct from current_status.version then
      outcome := 'stale';
    elsif decision.takes_back and exists (
      select from private.letter_deliveries as delivery
      where delivery.application_id = application.id and occasion = current_status.status and state in ('sending', 'sent')
    ) then
      outcome := 'told';
    else
      outcome := 'kept';
      if decision.status is distinct from current_status.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          application.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', current_status.status)
        ) returning author, at into last_change;
        update private.statuses set status = decision.status, version = current_status.version + 1, set_at = now()
          where application_id = application.id returning * into current_status;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', application.id, 'outcome', outcome, 'status', current_status.status, 'version', current_status.version,
      'author', last_change.author, 'at', last_change.at
    );
  end loop;
  return private.end_act(act, outcomes);
end
$$;

create function public.desk_note(act uuid, application uuid, note text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if coalesce(btrim(note, E' \t\r\n'), '') = '' or char_length(note) > 10000 then
    raise exception 'A note has between 1 and 10,000 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_note', application::text, note) then
    perform private.write_down(application, act, me.email, 'note', jsonb_build_object('note', note));
  end if;
  return private.application_details(application, me.blind) -> 'history';
end
$$;

-- A page of at most fifty history entries that belong to no application, the newest first, such as entries about the door,
-- places, retreats, letters in general and erasures. The result names them `happenings`.
create function public.desk_history(after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  before_id bigint := coalesce((after ->> 'id')::bigint, 9223372036854775807);
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'happenings', coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'at', at, 'author', author, 'kind', kind, 'detail', detail) order by id desc), '[]'),
      'next', case when count(*) = 50 then jsonb_build_object('id', min(id)) end)
    from (
      select * from private.history where application_id is null and id < before_id order by id desc limit 50
    ) as page
  );
end
$$;
