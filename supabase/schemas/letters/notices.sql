-- Notices: emails to organisers about new applications, RSVPs and withdrawals, if they switched them on. Tests of letters are here
-- too.

-- Notifies the organisers who want an email for each application, RSVP or withdrawal. Beyond ten an hour, the daily email covers
-- them.
create function private.write_notices(application uuid, event bigint default null) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.deliveries (kind, organiser_id, application_id, event_id)
      select 'notice', account_id, write_notices.application, event from private.organisers as organiser
      where notices = 'each' and (
        select count(*) from private.deliveries as notice
        where organiser_id = account_id and kind = 'notice' and application_id is not null
          and private.happened_within(queued_at, '1 hour')
      ) < 10;
  end;

-- Writes the notices of what an applicant did by this act: an RSVP or a withdrawal. If that fails, it is still stored.
create function private.write_event_notices(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.write_notices(application, id) from private.history
    where application_id = application and history.act = write_event_notices.act;
exception when others then
  raise log 'What an applicant did was stored without notices (SQLSTATE %).', sqlstate;
end
$$;

-- Whether a notice about this application or this event alone was sent to an organiser. A failed one counts, too.
create function private.had_notice(organiser uuid, application uuid, event bigint) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.deliveries as notice
    where organiser_id = organiser and kind = 'notice' and application_id = application
      and event_id is not distinct from event and due_at is null
  )
$$;

-- How many applications were withdrawn in a period and still are, without those with a notice of their own to this organiser.
create function private.count_withdrawn(organiser uuid, since timestamptz, until timestamptz) returns bigint
  language sql stable set search_path = ''
as $$
  select count(distinct event.application_id)
  from private.history as event join private.statuses using (application_id)
  where kind = 'withdrawal' and at > since and at <= until and withdrawn_at is not null
    and not private.had_notice(organiser, event.application_id, event.id)
$$;

-- Writes the daily emails that are due, except those with nothing to report. They report the applications, RSVPs and withdrawals
-- since the last daily email, except those with a notice of their own and people whom organisers added. They also report the applications that will be erased, but
-- not to readers, who cannot keep one.
create function private.write_day_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  with due as (
    -- Applications that are being stored at this moment are reported in the next daily email.
    select account_id, told_until, now() - interval '1 minute' as until, is_reader from private.organisers
    where notices <> 'off' and day_due_at <= now() for no key update skip locked
  ), updated as (
    update private.organisers as organiser set told_until = due.until,
      day_due_at = day_due_at + ceil(extract(epoch from now() - day_due_at) / 86400 + 0.00001) * interval '1 day'
    from due where organiser.account_id = due.account_id
  )
  insert into private.deliveries (kind, organiser_id, since, until)
    select 'notice', account_id, told_until, until from due
    where not is_reader and private.announced_applications() is not null or exists (
      select from public.retreat_applications as application
      where created_at > told_until and created_at <= until and added_by is null
        and not private.had_notice(account_id, application.id, null)
    ) or exists (
      select from private.history as rsvp
      where kind = 'answer' and author = 'applicant' and at > told_until and at <= until
        and not private.had_notice(account_id, rsvp.application_id, rsvp.id)
    ) or private.count_withdrawn(account_id, told_until, until) > 0;
end
$$;

-- Deletes notices and tests after a day, sent or not, and writes the daily emails that are due. A notice about one application or
-- event, sent or failed, stays until the daily email has left out that application or event.
create function private.tidy_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  -- A time too far ahead was stored before the clock was set back.
  update private.organisers
    set told_until = least(told_until, now() - interval '1 minute'),
      day_due_at = day_due_at
        - greatest(0, ceil(extract(epoch from day_due_at - now()) / 86400) - 1) * interval '1 day'
    where told_until > now() or day_due_at > now() + interval '1 day';
  -- Skips those that are being erased or sent: the next call deletes them.
  delete from private.deliveries where id = any (array(
    select id from private.deliveries join private.organisers on account_id = organiser_id
    where kind in ('notice', 'test') and queued_at <= now() - interval '1 day'
      and (kind = 'test' or application_id is null or due_at is not null or queued_at < told_until - interval '1 hour')
    for update of deliveries skip locked
  ));
  perform private.write_day_notices();
end
$$;

-- Claims a notice or a test that is due. Returns null and deletes it if it reports nothing, or if the daily email reports
-- the same.
create function private.claim_notice(notice uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  organiser private.organisers;
  report jsonb;
begin
  select * into claimed from private.deliveries where id = notice;
  select * into organiser from private.organisers where account_id = claimed.organiser_id;
  if claimed.kind = 'notice' and claimed.application_id is not null and (
    claimed.attempts = 0 and (
      select count(*) from private.deliveries as other
      where organiser_id = claimed.organiser_id and kind = 'notice' and application_id is not null
        and private.happened_within(tried_at, '1 hour')
        and queued_at > now() - interval '1 day'
    ) >= 10
    or claimed.queued_at <= organiser.told_until and organiser.told_until <= clock_timestamp()
  ) then
    delete from private.deliveries where id = notice;
    return null;
  end if;
  claimed := private.claim_one(notice, lease);
  if claimed.kind = 'notice' then
    report := private.notice_content(claimed, organiser.blind)
      || case when organiser.is_reader then '{"erasing": null}' else '{}' end::jsonb;
    if claimed.application_id is null and claimed.event_id is null
      and report @> '{"count": 0, "coming": 0, "notComing": 0, "withdrawn": 0, "erasing": null}' then
      delete from private.deliveries where id = notice;
      return null;
    end if;
  end if;
  return (
    select jsonb_build_object('id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.may_have_arrived,
      'closings', claimed.closings, 'age', extract(epoch from now() - claimed.queued_at) * 1000, 'to', email,
      'says', coalesce(report, jsonb_build_object('subject', claimed.subject, 'body', claimed.body)))
    from auth.users where id = claimed.organiser_id
  );
end
$$;

-- The content of a notice: one application, RSVP, withdrawal or change of an organiser, or the counts of a day, with up to fifty
-- plain names of applicants. Applications are counted up to a thousand. Organisers who read blind get no names.
create function private.notice_content(notice private.deliveries, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'application', notice.application_id,
      'answer', (select detail ->> 'answer' from private.history where id = notice.event_id),
      'organiser', (
        select detail || jsonb_build_object('author', private.author_shown(author, author_id))
        from private.history where id = notice.event_id and kind = 'organiser'
      ),
      'isWithdrawn', (select (detail ->> 'is_withdrawn')::boolean from private.history where id = notice.event_id),
      'since', notice.since, 'count', count(*),
      'names', case when blind then '[]' else coalesce(to_jsonb((array_agg(name order by position) filter (where name is not null))[:50]), '[]') end
    )
    from (
      select coalesce(private.plain_name(first_name || ' ' || last_name), private.plain_name(first_name)) as name,
        row_number() over (order by created_at, id) as position
      from public.retreat_applications as application
      where application.id = notice.application_id
        or created_at > notice.since and created_at <= notice.until and added_by is null
          and not private.had_notice(notice.organiser_id, application.id, null)
      order by created_at, id limit 1000
    ) as application
  ) || (
    select jsonb_build_object(
      'coming', count(*) filter (where detail ->> 'answer' = 'coming'),
      'notComing', count(*) filter (where detail ->> 'answer' = 'not coming'),
      'withdrawn', private.count_withdrawn(notice.organiser_id, notice.since, notice.until),
      'erasing', private.announced_applications())
    from private.history as rsvp
    where kind = 'answer' and author = 'applicant' and at > notice.since and at <= notice.until
      and not private.had_notice(notice.organiser_id, rsvp.application_id, rsvp.id)
  );
end
$$;
