-- RSVPs: those that people give through their link, and those that organisers record.

-- Sets an RSVP, null for none. The caller has locked the application. The newest RSVP counts, and the history has all. A
-- person with an RSVP gets no more reminders. Only a person who is coming gets a confirmation and a reminder of questions.
create function private.set_rsvp(application uuid, act uuid, author text, rsvp text) returns void
  language plpgsql set search_path = ''
as $$
begin
  if exists (
    select from private.invitations as invitation
    where application_id = application and invitation.rsvp is not distinct from set_rsvp.rsvp
  ) then
    return;
  end if;
  perform private.write_down(application, act, author, 'answer', jsonb_build_object('answer', rsvp));
  if rsvp is not null then
    perform private.drop_letters(application, 'reminder');
  end if;
  if rsvp is distinct from 'coming' then
    perform private.drop_letters(application, 'confirmed');
    perform private.drop_letters(application, 'questions');
  elsif author = 'applicant' then
    perform private.write_confirmation(application, act);
  end if;
  update private.invitations as invitation
    set rsvp = set_rsvp.rsvp, rsvp_at = case when set_rsvp.rsvp is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_rsvp_notices(application, act);
  end if;
end
$$;

-- The application of a link's token; null if the token is unknown, or the acceptance was taken back.
create function private.application_of_token(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application_id from private.invitations as invitation
  where is_accepted and invitation.token
    = case when application_of_token.token ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then application_of_token.token::uuid end
$$;

-- Returns an invitation as its page shows it. "state" is "open", "over" after the deadline, or "invalid", which comes alone.
-- The other keys are "first_name", "until" (the deadline), "answer" (the RSVP, or null) and "address" (where replies go).
-- "retreat" and "questions" are null unless the person is coming (`private.retreat`, `private.questions_of`). No answer to a
-- private question is returned, since a letter may be forwarded. The names are older than the words invitation and RSVP, and
-- published pages use them.
create function public.place_by_token(token text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  return (
    select jsonb_build_object(
      'state', case when until < private.today() then 'over' else 'open' end,
      'first_name', left(private.trimmed(first_name), 200), 'until', until, 'answer', rsvp,
      'address', private.unicode_email(coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender)),
      'retreat', case when rsvp = 'coming' then private.retreat(edition) end,
      'questions', case when rsvp = 'coming' then (
        select jsonb_build_object(
          'until', coalesce(questions_until, starts_on), 'is_open', private.are_questions_open(edition),
          'private_days', private_days, 'list', private.questions_of(application, edition, false))
        from private.editions
        where id = edition and exists (select from private.questions where questions.edition = editions.id)
      ) end
    )
    from private.invitations as invitation
      join public.retreat_applications as application_row on application_row.id = application_id
      cross join private.places
      cross join lateral (select coalesce(deadline, private.today() + places.days) as until) as counted
    where application_id = application
  );
end
$$;

-- Refuses more than twenty changes by an applicant in an hour, but no retry of an act. A future time does not count: the clock
-- was set back.
create function private.refuse_too_many_changes(application uuid, act uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if (
    select count(*) from private.history
    where application_id = application and kind in ('answer', 'questions') and author = 'applicant'
      and private.happened_within(at, '1 hour')
  ) >= 20 and not exists (select from private.acts where acts.act = refuse_too_many_changes.act) then
    raise exception 'There were too many changes. Please try again in an hour.' using errcode = 'PT429';
  end if;
end
$$;

-- Stores `answer`, the RSVP that was given through the link: `coming`, or `not coming`. Repeating the act stores nothing more,
-- and neither does the RSVP that is stored. After the deadline nothing is stored. Returns the invitation afterwards, as
-- `place_by_token` does.
create function public.answer_place(token text, answer text, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if act is null or answer is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming" or "not coming", and has an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- Checked again under the lock, since a decision may have changed it.
  if private.application_of_token(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif public.place_by_token(token) @> '{"state": "open"}'
    -- Anybody with the link could otherwise store acts without end.
    and not exists (select from private.invitations where application_id = application and rsvp = answer)
  then
    perform private.refuse_too_many_changes(application, act);
    if private.begin_act(act, 'answer_place', token, answer) then
      perform private.set_rsvp(application, act, 'applicant', answer);
    end if;
  end if;
  return public.place_by_token(token);
end
$$;

-- Locks an application, and refuses one that is not accepted.
create function private.lock_accepted(application uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  perform from private.invitations where application_id = application and is_accepted;
  if not found then
    raise exception 'This application is no longer accepted.' using errcode = 'PT409';
  end if;
end
$$;

-- Sets an RSVP that was not given on the page: `coming`, `not coming`, or null for none. `answer` is this RSVP.
create function public.desk_set_answer(act uuid, application uuid, answer text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming", "not coming" or none, and has an id.' using errcode = '22023';
  end if;
  perform private.lock_accepted(application);
  if private.begin_act(act, 'desk_set_answer', application::text, answer) then
    perform private.set_rsvp(application, act, me.email, answer);
  end if;
  return private.application_details(application, me.blind);
end
$$;

-- Sets the deadline of an accepted person to the day `until`.
create function public.desk_keep_until(act uuid, application uuid, until date) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or until is null or until < private.today() or until > '9999-12-31' then
    raise exception 'A deadline is today or a later day.' using errcode = '22023';
  end if;
  perform private.lock_accepted(application);
  -- A retry must not overwrite a deadline that was set after the first call.
  if private.begin_act(act, 'desk_keep_until', application::text, until::text) then
    perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
    update private.invitations set deadline = until, is_deadline_set = true where application_id = application;
  end if;
  return private.application_details(application, me.blind);
end
$$;

-- Queues an RSVP's webhook if a server for automations was seen in the last day.
create function private.enqueue_rsvp() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.deliveries (kind, event_id, application_id)
    select 'rsvp', new.id, new.application_id from private.postman where automation_seen_at > now() - interval '1 day';
  return null;
end
$$;

create trigger enqueue_rsvp after insert on private.history
  for each row when (new.kind = 'answer') execute function private.enqueue_rsvp();
