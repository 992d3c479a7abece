-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.

-- Whether something happened within this span until now. A future time does not count: it was stored before the clock was set back.
-- It is volatile, as `clock_timestamp` is, so that PostgreSQL can inline it.
create or replace function private.happened_within(moment timestamptz, span interval) returns boolean
  language sql volatile parallel safe
  return moment >= now() - span and moment <= clock_timestamp();

revoke all on function private.happened_within(timestamp with time zone, interval) from public, anon, authenticated;

-- Sends somebody a confirmation, which can be stopped like any letter. A person gets at most one an hour, and none is queued
-- unless a server that sends emails was seen in the last day. A letter that quotes a blank form answer stays a draft. If this
-- fails, the RSVP is still stored. The caller has locked the application.
create or replace function private.write_confirmation(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
declare
  drafted uuid;
  letter private.letters;
  text jsonb;
begin
  if not exists (
    select from private.letter_settings cross join private.postman
    where confirmations and seen_at > now() - interval '1 day'
  ) or exists (
    select from private.deliveries as delivery
    where delivery.application_id = application and private.is_confirmation(letter_id) and private.has_told(delivery)
      and private.happened_within(queued_at, '1 hour')
  ) then
    return;
  end if;
  drafted := private.draft_from_template(application, 'confirmed', true);
  -- Null: there is a draft already, or a letter that is pending or has failed.
  if drafted is null then return; end if;
  -- Uses the template's text, even if an organiser edited a draft for this person and removed it.
  update private.letters set subject = null, body = null where id = drafted returning * into letter;
  text := private.draft_text(letter, false);
  if text -> 'missing' = '[]' and text -> 'unknown' = '[]' and not (text ->> 'is_long')::boolean then
    update private.letters set state = 'released' where id = drafted;
    perform private.queue_letter(letter, 'letter', text, act, null);
    perform private.withdraw_receipt(application);
  end if;
exception when others then
  raise log 'An RSVP was stored without a confirmation (SQLSTATE %).', sqlstate;
end
$$;

-- Whether a reminder was sent in the last three days, so that it is too early for another.
create or replace function private.is_reminder_recent(sent_at timestamptz) returns boolean
  -- Strict, so that it costs nothing for people who got no reminder.
  language sql stable strict
  return private.happened_within(sent_at, '3 days');

-- Refuses more than twenty changes by an applicant in an hour, but no retry of an act. A future time does not count: the clock
-- was set back.
create or replace function private.refuse_too_many_changes(application uuid, act uuid) returns void
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

-- Whether this hour's limit allows another receipt or notice: a hundred, over all servers.
-- Its body is a text: PostgreSQL refuses a new column of a table whose row type a parsed body uses.
create or replace function private.has_room(postman private.postman) returns boolean
  language sql stable
as $$
  select postman.in_hour < 100 or not private.happened_within(postman.hour_began_at, '1 hour')
$$;

-- The emails that are suspected: what was refused more than an hour ago says nothing about the mail server of now.
create or replace function private.suspects() returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select case when private.happened_within(refused_at, '1 hour') then suspects else '{}' end
    from private.postman
  );
end
$$;

-- Claims the next email (`due_mail`) for one server and the duration of the lease; null if none is due or may be sent. It locks
-- the postman's row first and then checks again what is due: the previous holder of the lock may have claimed a letter to the
-- same person. In the order of locks, only invitations come after this row. `pace`: the time between two emails, null for none.
create or replace function private.claim_mail(pace interval, kinds text[] default '{test,letter,notice,receipt}') returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  -- Longer than any handover takes.
  lease constant interval := interval '90 seconds';
  -- How late an email may be without delaying the following ones.
  slack constant interval := interval '200 milliseconds';
  postman private.postman;
  due record;
  mail jsonb;
begin
  -- A server that is about to change the schema holds this lock, and waits for the claimed emails.
  if not pg_try_advisory_xact_lock_shared(5610748) then return null; end if;
  select * into postman from private.postman;
  -- Writes nothing if no email is due, or none may be sent.
  if not private.may_leave(postman, pace) or private.awaits_probe() then return null; end if;
  due := private.due_mail(kinds, private.has_room(postman));
  if due.id is null then return null; end if;
  select * into postman from private.postman for update;
  if not private.may_leave(postman, pace) or private.awaits_probe() then return null; end if;
  loop
    due := private.due_mail(kinds, private.has_room(postman));
    if due.id is null then return null; end if;
    mail := case when due.kind in ('test', 'notice') then private.claim_notice(due.id, lease)
      else private.claim_letter(due.id, lease) end;
    exit when mail is not null;
  end loop;
  update private.postman as row set
    next_at = case when pace is null then row.next_at else least(greatest(row.next_at, now() - slack), now()) + pace end,
    (hour_began_at, in_hour) = (
      select case when counts and is_new then now() else row.hour_began_at end,
        case when not counts then row.in_hour when is_new then 1 else row.in_hour + 1 end
      from (
        select due.kind in ('notice', 'receipt') as counts,
          not private.happened_within(row.hour_began_at, '1 hour') as is_new
      ) as hour
    );
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

-- Notifies the organisers who want an email for each application or RSVP. Beyond ten an hour, the daily email covers them.
create or replace function private.write_notices(application uuid, event bigint default null) returns void
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

-- Claims a notice or a test that is due. Returns null and deletes it if it reports nothing, or if the daily email reports
-- the same.
create or replace function private.claim_notice(notice uuid, lease interval) returns jsonb
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
    report := private.notice_content(claimed, organiser.blind);
    if claimed.application_id is null and report @> '{"count": 0, "coming": 0, "notComing": 0, "erasing": null}' then
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

-- Writes a receipt: at most one a day to a mailbox, in any spelling of its address, and twenty to a domain, so that nobody can
-- flood a company's mailboxes. The domain of a public mail provider gets a thousand. If two inserts for one domain run at once,
-- one skips its receipt instead of waiting.
create or replace function private.write_receipt(application public.retreat_applications) returns void
  language plpgsql set search_path = ''
as $$
declare
  recipient text := private.mailbox(application.email);
  -- Three labels for domains such as `example.co.uk`.
  company text := substring(split_part(recipient, '@', 2) from '[^.]+\.(?:[^.]{1,3}\.[a-z]{2}|[^.]+)$');
  is_provider boolean := private.is_mailbox_provider(company);
  template private.templates;
  text jsonb;
begin
  if recipient is null
    or not pg_try_advisory_xact_lock(hashtextextended(case when is_provider then recipient else company end, 0))
  then
    return;
  end if;
  -- Separate statements, so that they see what was committed before the lock was taken.
  perform from private.deliveries
    where mailbox = recipient and private.happened_within(queued_at, '1 day');
  if found then return; end if;
  perform from private.deliveries
    where domain = company and private.happened_within(queued_at, '1 day')
    offset case when is_provider then 999 else 19 end limit 1;
  if found then return; end if;
  select * into template from private.templates where kind = 'receipt';
  text := private.receipt(template.subject, template.body, application.first_name);
  insert into private.deliveries (kind, application_id, subject, body, mailbox, domain)
    values ('receipt', application.id, text ->> 'subject', text ->> 'body', recipient, company);
end
$$;

-- Sends the caller a text, filled in for an application as its applicant would get it. Repeating the act sends no second
-- email.
create or replace function public.desk_send_test(
  subject text, body text, application uuid default null, occasion text default null,
  act uuid default null, site text default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  text jsonb;
begin
  perform private.check_template(occasion, subject, body);
  perform private.check_site(site);
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_send_test', subject, body, application::text, occasion, site) then
    return jsonb_build_object('to', me.email);
  elsif not exists (select from private.postman where private.is_recent(seen_at)) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  end if;
  text := private.example(occasion, subject, body, application, me.blind, site);
  if text is null then
    raise exception 'There is no application to fill it with yet.' using errcode = '22023';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'This letter is too long once filled in.' using errcode = '22023';
  end if;
  perform from public.retreat_applications where id = (text ->> 'application')::uuid for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- Serialises concurrent calls, so that each is counted.
  perform from private.organisers where account_id = me.id for no key update;
  if (
    select count(*) from private.deliveries
    where organiser_id = me.id and kind = 'test'
      and private.happened_within(queued_at, '1 hour')
  ) >= 20 then
    raise exception 'At most twenty test emails an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (act, 'test', me.id, (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;
