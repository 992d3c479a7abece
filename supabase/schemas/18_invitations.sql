-- Invitations: who of the accepted people comes, until when they can say so, and how many places are left.

-- One row: what organisers set, and what letters need for the page on which people say whether they come.
create table private.places (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  -- Null: nobody has said how many there are.
  places integer check (places between 0 and 1000000),
  -- How many days people have to answer, from the day of the letter on.
  days integer not null default 10 check (days between 1 and 365),
  -- The time zone in which a day ends. A server sets that of its machine unless one is set, and organisers change it.
  zone text,
  -- Where the site is, without a slash at its end; blank where no server knows it.
  site text not null default '',
  -- Which address letters come from; blank where no server sends mails.
  sender text not null default ''
);
insert into private.places default values;
alter table private.places enable row level security;

-- The invitation of an accepted person: their link, their deadline and their RSVP. A row for each application that is accepted, or
-- was.
create table private.invitations (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  -- 122 random bits, with which the link in their letters ends.
  token uuid not null unique default gen_random_uuid(),
  -- Whether they are accepted now. An acceptance that is taken back and made again keeps its link and its RSVP.
  is_accepted boolean not null,
  -- When a letter had told them, and when a reminder was sent last.
  told_at timestamptz,
  reminded_at timestamptz,
  -- The last day to answer. A handover sets it, and organisers move it.
  deadline date,
  -- Whether an organiser set the deadline. No handover moves it then.
  is_deadline_set boolean not null default false,
  -- Null: none yet.
  rsvp text check (rsvp in ('coming', 'not coming')),
  rsvp_at timestamptz
);
alter table private.invitations enable row level security;

-- Today's date in the time zone of deadlines.
create function private.today() returns date
  language sql stable set search_path = ''
  begin atomic
    select (now() at time zone coalesce(zone, 'UTC'))::date from private.places;
  end;

-- The state of an RSVP; null where the applicant is not asked. `late` is `no answer` after the deadline.
create function private.rsvp_state(
  is_accepted boolean, told_at timestamptz, deadline date, rsvp text, today date
) returns text
  language sql immutable
  return case
    when not is_accepted then null
    when rsvp is not null then rsvp
    when told_at is null then 'not told'
    when deadline < today then 'late'
    else 'no answer'
  end;

-- The status of each application, and the RSVP of those that are accepted. `person` is the same for each application of an e-mail.
create view private.standings as
  select application.id as application_id, private.person(application.email) as person,
    coalesce(decided.status, 'new') as status, coalesce(decided.version, 0) as version,
    private.rsvp_state(coalesce(is_accepted, false), told_at, deadline, rsvp, (select private.today())) as answer_state,
    rsvp as answer, rsvp_at as answered_at, deadline as kept_until
  from public.retreat_applications as application
    left join private.statuses as decided on decided.application_id = application.id
    left join private.invitations as invitation on invitation.application_id = application.id and is_accepted;

-- Whether PostgreSQL knows a time zone by this name. It reads the names of all, which takes some time.
create function private.is_zone(zone text) returns boolean
  language sql stable set search_path = ''
  begin atomic
    select exists (select from pg_timezone_names where name = zone);
  end;

-- Sets the time zone of deadlines, unless one is set.
create function private.adopt_zone(zone text) returns void
  language plpgsql set search_path = ''
as $$
begin
  if exists (select from private.places where places.zone is null) and private.is_zone(adopt_zone.zone) then
    update private.places set zone = adopt_zone.zone where places.zone is null;
  end if;
end
$$;

-- Stores what a server knows: the site's address, the mails' sender, and its time zone. It does not remove what only another
-- server knows.
create function private.know_site(site text, sender text, zone text) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.adopt_zone(zone);
  update private.places set
      site = coalesce(nullif(know_site.site, ''), places.site),
      sender = coalesce(nullif(know_site.sender, ''), places.sender)
    where (places.site, places.sender) is distinct from (
      coalesce(nullif(know_site.site, ''), places.site), coalesce(nullif(know_site.sender, ''), places.sender));
end
$$;

-- Invites an accepted person. The names of its triggers come after `redraft`, so that letters are locked before invitations.
create function private.keep_invitation() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.status = 'accepted' then
    insert into private.invitations (application_id, is_accepted) values (new.application_id, true)
      on conflict (application_id) do update set is_accepted = true;
  else
    update private.invitations set is_accepted = false where application_id = new.application_id and is_accepted;
  end if;
  return null;
end
$$;

create trigger then_accept_first after insert on private.statuses
  for each row when (new.status = 'accepted') execute function private.keep_invitation();
create trigger then_accept after update of status on private.statuses
  for each row when ((old.status = 'accepted') <> (new.status = 'accepted')) execute function private.keep_invitation();

-- Follows what applicants are told. An automation is told the decision, where a server was at work within a day that tells one. An accepted person who was told so is asked from then on. A person who was told another decision
-- gets another link when they are accepted again, without their RSVP, unless they were told something newer already.
create function private.follow_told() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  template text := (select letters.template from private.letters where id = new.letter_id);
begin
  -- Once, also where it may have arrived before it did. What somebody sent by hand the automation might send, too.
  if private.is_decision(template) and new.kind = 'letter' and new."by" <> 'hand' then
    insert into private.deliveries (kind, application_id, letter_id, subject, body, act, author, is_beside)
      select 'decision', new.application_id, new.letter_id, new.subject, new.body, new.act, new.author, true
      from private.postman
      where automation_seen_at > now() - interval '1 day' and not exists (
        select from private.deliveries as told
        where told.letter_id = new.letter_id and told.kind = 'decision' and told.act is not distinct from new.act
      );
  end if;
  if private.is_decision(template) and template <> 'accepted' then
    if exists (
      select from private.deliveries as later
      where later.application_id = new.application_id and private.has_told(later) and later.queued_at > new.queued_at
    ) then
      return null;
    end if;
    update private.invitations
      set token = gen_random_uuid(), told_at = null, deadline = null, is_deadline_set = false, rsvp = null, rsvp_at = null
      where application_id = new.application_id
        and (told_at is not null or deadline is not null or rsvp is not null);
  elsif template = 'accepted' or private.has_link(new.body) then
    update private.invitations set
        told_at = now(), deadline = coalesce(deadline, private.today() + (select days from private.places))
      where application_id = new.application_id and told_at is null;
  end if;
  if template = 'reminder' and new.state = 'done' then
    update private.invitations set reminded_at = new.done_at where application_id = new.application_id;
  end if;
  return null;
end
$$;

create trigger follow_told after update of state, may_have_arrived on private.deliveries
  for each row when (
    new.letter_id is not null and not new.is_beside
    and (new.state = 'done' and old.state <> 'done' or new.may_have_arrived > old.may_have_arrived)
  )
  execute function private.follow_told();

-- Whether a text has the placeholder of the link, or of the deadline. Letters are stored with these placeholders.
create function private.has_link(given text) returns boolean
  language sql immutable set search_path = ''
  return given ~ '\{\{\s*answer_link\s*\}\}';
create function private.has_deadline(given text) returns boolean
  language sql immutable set search_path = ''
  return given ~ '\{\{\s*reply_by\s*\}\}';

-- A day in the words of letters.
create function private.day_shown(day date) returns text
  language sql immutable set search_path = ''
  return to_char(day, 'FMDD FMMonth YYYY');

-- Whether the deadline of an applicant is over. Until they were told, or an organiser set it, the days count from the handover.
create function private.is_deadline_over(application uuid) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from private.invitations
    where application_id = application and deadline < private.today() and (told_at is not null or is_deadline_set)
  );
end
$$;

-- The link and the deadline in a letter until it is handed over: placeholders, or blank where nobody is asked any more.
create function private.invitation_placeholders(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_asked boolean := exists (select from private.invitations where application_id = application and is_accepted)
    and not private.is_deadline_over(application);
begin
  return jsonb_build_object(
    'answer_link', case when is_asked then '{{answer_link}}' else '' end,
    'reply_by', case when is_asked then '{{reply_by}}' else '' end);
end
$$;

-- Which of the two placeholders a text has that are blank for an application.
create function private.missing_in(given text, application uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(name order by name), '[]') from jsonb_each_text(private.invitation_placeholders(application)) as invitation (name, words)
  where words = '' and case name when 'reply_by' then private.has_deadline(given) else private.has_link(given) end
$$;

-- Whether a delivery has the deadline or the link, and the deadline is over. An automation that is told an acceptance in place of
-- an email is told both, whatever the text is.
create function private.is_overdue(delivery private.deliveries) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return (
      private.has_link(delivery.subject || delivery.body) or private.has_deadline(delivery.subject || delivery.body)
      or delivery.kind = 'decision' and exists (
        select from private.letters where id = delivery.letter_id and template = 'accepted'
      )
    )
    and private.is_main(delivery) and private.is_deadline_over(delivery.application_id);
end
$$;

-- A text with the link and the deadline filled in. Where no site is known, the paragraphs with the link are left out.
create function private.with_invitation(given text, link text, deadline date) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  if link is null and private.has_link(given) then
    given := array_to_string(array(
      select paragraph
      from regexp_split_to_table(given, '(?:\r?\n[ \t]*){2,}') with ordinality as parts (paragraph, place)
      where not private.has_link(paragraph) order by place
    ), E'\n\n');
  end if;
  given := regexp_replace(given, '\{\{\s*answer_link\s*\}\}', coalesce(link, ''), 'g');
  return regexp_replace(given, '\{\{\s*reply_by\s*\}\}', private.day_shown(deadline), 'g');
end
$$;

-- Invites somebody whose letter is being handed over. The result is their link, null where the site's address is not known, and
-- their deadline. Until they were told, or an organiser set it, the days count from the last handover. The update decides by the
-- row itself: a subquery would decide by the row as it was before the lock.
create function private.invite(application uuid, site text default null, out link text, out deadline date)
  language plpgsql set search_path = ''
as $$
declare
  settings private.places;
  counted date;
begin
  select * into settings from private.places;
  counted := private.today() + settings.days;
  update private.invitations as invitation set deadline = case
      when told_at is null and not is_deadline_set then greatest(invitation.deadline, counted)
      else coalesce(invitation.deadline, counted)
    end
    where application_id = application and is_accepted
    returning coalesce(nullif(settings.site, ''), nullif(invite.site, '')) || '/answer/#' || token, invitation.deadline
    into link, deadline;
end
$$;

-- Subject and body of a letter as it is handed over, and the link in it.
create function private.to_send(
  application uuid, inout subject text, inout body text, site text default null, out link text
)
  language plpgsql set search_path = ''
as $$
declare
  invitation record;
begin
  if private.has_link(subject || body) or private.has_deadline(subject || body) then
    invitation := private.invite(application, site);
    link := invitation.link;
    subject := private.with_invitation(subject, coalesce(invitation.link, ''), invitation.deadline);
    body := private.with_invitation(body, invitation.link, invitation.deadline);
  end if;
end
$$;

-- Sets an RSVP, null for none, once for each act. The caller has locked the application. The last one counts, and the history has
-- all. A person with an RSVP gets no more reminders.
create function private.set_rsvp(application uuid, act uuid, author text, rsvp text) returns void
  language plpgsql set search_path = ''
as $$
declare
  is_repeat boolean := exists (
    select from private.history where application_id = application and history.act = set_rsvp.act
  );
begin
  if not is_repeat and exists (
    select from private.invitations as invitation
    where application_id = application and invitation.rsvp is not distinct from set_rsvp.rsvp
  ) then
    return;
  end if;
  perform private.write_down(application, act, author, 'answer', jsonb_build_object('answer', rsvp));
  if is_repeat then return; end if;
  if rsvp is not null then
    perform private.drop_letters(application, 'reminder');
  end if;
  update private.invitations as invitation
    set rsvp = set_rsvp.rsvp, rsvp_at = case when set_rsvp.rsvp is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_answer_notices(application, act);
  end if;
end
$$;

-- The application of a link's token; null where there is none, or the acceptance was taken back.
create function private.application_of_token(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application_id from private.invitations as invitation
  where is_accepted and invitation.token
    = case when application_of_token.token ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then application_of_token.token::uuid end
$$;

-- An invitation as its page shows it: {"state": "open", "first_name", "until", "answer"}; after the deadline
-- {"state": "over", ..., "address": the reply address}; and for a link that is not valid, or not any more, {"state": "invalid"}.
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
      'first_name', left(btrim(first_name, E' \t\r\n'), 200), 'until', until, 'answer', rsvp
    ) || case when until < private.today() then jsonb_build_object(
      'address', coalesce(nullif((select reply_to from private.letter_settings), ''), places.sender)) else '{}' end
    from private.invitations as invitation
      join public.retreat_applications as given on given.id = application_id
      cross join private.places
      cross join lateral (select coalesce(deadline, private.today() + places.days) as until) as counted
    where application_id = application
  );
end
$$;

-- Stores an RSVP that came by the link: `coming`, or `not coming`. The same act again stores nothing more. The result is the
-- invitation afterwards. After the deadline nothing is stored.
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
  -- As it stands now that nobody decides meanwhile.
  if private.application_of_token(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif public.place_by_token(token) ->> 'state' = 'open' then
    if (
      select count(*) from private.history
      where application_id = application and kind = 'answer' and author = 'applicant'
        and at > now() - interval '1 hour' and at <= clock_timestamp()
    ) >= 20 then
      raise exception 'This answer was changed too often. Please try again in an hour.' using errcode = 'PT429';
    end if;
    perform private.set_rsvp(application, act, 'applicant', answer);
  end if;
  return public.place_by_token(token);
end
$$;

-- Who comes, how many places are left, and who waits for one: {version, places, days, zone, is_zone_set, site, today, coming,
-- not_coming, no_answer, late, not_told, free, waitlist}. `late` is a part of `no_answer`. `free` is null where nobody said how
-- many places there are, and negative where more people were accepted. `zone` is `UTC` until one is set. The argument is that of
-- older desks, and is ignored.
create function public.desk_places(zone text default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  -- Once, and not for each of them.
  today constant date := private.today();
begin
  return (
    with counted as (
      select count(*) filter (where state = 'coming') as coming,
        count(*) filter (where state = 'not coming') as not_coming,
        count(*) filter (where state in ('no answer', 'late')) as no_answer,
        count(*) filter (where state = 'late') as late,
        count(*) filter (where state = 'not told') as not_told
      from (
        select private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) as state
        from private.invitations
        where is_accepted
      ) as invitations
    )
    select to_jsonb(counted) || jsonb_build_object(
      'version', version, 'places', places, 'days', days, 'zone', coalesce(settings.zone, 'UTC'),
      'is_zone_set', settings.zone is not null, 'site', site,
      'today', today, 'free', places - coming - no_answer - not_told,
      'waitlist', (
        select coalesce(jsonb_agg(
          jsonb_build_object('set_at', set_at) || private.beginnings(private.answers(application, me.blind) || summary)
          order by set_at, id), '[]')
        from (
          select application_id, set_at from private.statuses
          where status = 'waitlisted' order by set_at, application_id limit 20
        ) as waiting
          join public.retreat_applications as application on id = waiting.application_id
          cross join private.summaries(array[id], me.blind)
      ))
    from private.places as settings, counted
  );
end
$$;

-- Sets how many places there are, null for not known; how many days people have to answer; and the time zone of deadlines, which
-- stays as it is where it is null.
create function public.desk_set_places(version integer, places integer, days integer, zone text default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.places;
begin
  if not coalesce(places between 0 and 1000000, true) then
    raise exception 'There are 0 to 1,000,000 places.' using errcode = '22023';
  elsif not coalesce(days between 1 and 365, false) then
    raise exception 'A place is kept for 1 to 365 days.' using errcode = '22023';
  end if;
  select * into former from private.places for update;
  zone := coalesce(zone, former.zone);
  if zone is distinct from former.zone and not private.is_zone(zone) then
    raise exception 'There is no time zone "%".', left(zone, 100) using errcode = '22023';
  elsif former.version = desk_set_places.version then
    update private.places as settings set version = former.version + 1, places = desk_set_places.places,
      days = desk_set_places.days, zone = desk_set_places.zone;
    if (former.places, former.days, former.zone) is distinct from (places, days, zone) then
      insert into private.history (author, kind, detail)
        values (me.email, 'places', jsonb_build_object('places', places, 'days', days)
          || case when zone is distinct from former.zone then jsonb_build_object('zone', zone) else '{}' end);
    end if;
  elsif former.version is distinct from desk_set_places.version + 1
    or (former.places, former.days, former.zone) is distinct from (places, days, zone)
  then
    -- Not a repeat whose response was lost.
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return public.desk_places();
end
$$;

-- Locks an application, and refuses unless it is accepted.
create function private.lock_invitation(application uuid) returns void
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
    raise exception 'This application is not accepted any more.' using errcode = 'PT409';
  end if;
end
$$;

-- Notes an RSVP that did not come by the page: `coming`, `not coming`, or null for no answer.
create function public.desk_set_answer(act uuid, application uuid, answer text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if act is null or answer not in ('coming', 'not coming') then
    raise exception 'An answer is "coming", "not coming" or none, and has an id.' using errcode = '22023';
  end if;
  perform private.lock_invitation(application);
  perform private.set_rsvp(application, act, me.email, answer);
  return private.whole(application, me.blind);
end
$$;

-- Moves the deadline of somebody.
create function public.desk_keep_until(act uuid, application uuid, until date) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_repeat boolean;
begin
  if act is null or until is null or until < private.today() or until > '9999-12-31' then
    raise exception 'A place is kept until today or a later day.' using errcode = '22023';
  end if;
  perform private.lock_invitation(application);
  is_repeat := exists (
    select from private.history where application_id = application and history.act = desk_keep_until.act
  );
  perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
  -- Not again, over what somebody set since.
  if not is_repeat then
    update private.invitations set deadline = until, is_deadline_set = true where application_id = application;
  end if;
  return private.whole(application, me.blind);
end
$$;

-- Whether a reminder that was sent then is so recent that no other one follows: in the last three days. A time later than now is
-- from before a clock was set back.
create function private.is_reminder_recent(sent_at timestamptz) returns boolean
  language sql stable
  return sent_at > now() - interval '3 days' and sent_at <= clock_timestamp();

-- The people to remind, those with the first deadline first, at most a thousand and one; how many have a reminder that was not sent
-- yet, and how many had one in the last three days.
create function private.to_remind(today date, out wanted uuid[], out waiting bigint, out reminded bigint)
  language plpgsql stable
  -- PostgreSQL knows nothing of many that were just drafted, and would compare each with each.
  set search_path = '' set enable_nestloop = off
as $$
begin
  with unsent as materialized (
    -- Each part has an index: no letter is read that was sent.
    select application_id from private.letters where coalesce(template, '') = 'reminder' and state = 'draft'
    union select application_id from private.deliveries
      where kind = 'letter' and state in ('waiting', 'sending', 'failed')
        -- Not as a join, for which PostgreSQL would read all letters.
        and (select template from private.letters where id = letter_id) = 'reminder'
  ), asked as (
    select application_id, deadline, unsent.application_id is not null as is_waiting,
      coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
    from private.invitations left join unsent using (application_id)
    where private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) in ('no answer', 'late')
  )
  select array(
      select application_id from asked where not is_waiting and not is_reminded
      order by deadline, application_id limit 1001
    ),
    (select count(*) from asked where is_waiting),
    (select count(*) from asked where is_reminded and not is_waiting)
    into wanted, waiting, reminded;
end
$$;

-- Drafts reminders for people who have not answered, those with the first deadline first, at most a thousand at once. Nobody is
-- reminded twice in three days. {drafted, late: those of them whose deadline has to be moved first, waiting: people with a reminder
-- that was not sent yet, reminded: people who had one in the last three days, more}.
create function public.desk_remind() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  today constant date := private.today();
  found record;
  drafted uuid[] := array[]::uuid[];
  application uuid;
begin
  perform private.caller();
  perform from private.templates where name = 'reminder' for key share;
  found := private.to_remind(today);
  perform private.lock_for_letters(found.wanted[:1000]);
  for application in
    select application_id from private.invitations
    where application_id = any (found.wanted[:1000])
      and private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) in ('no answer', 'late')
    order by application_id
  loop
    if private.draft(application, 'reminder', true) is not null then drafted := drafted || application; end if;
  end loop;
  return jsonb_build_object(
    'drafted', cardinality(drafted),
    'late', (
      select count(*) from private.invitations
      where application_id = any (drafted) and deadline < today
    ),
    'waiting', found.waiting, 'reminded', found.reminded, 'more', cardinality(found.wanted) > 1000
  );
end
$$;

-- Whether somebody was sent a reminder lately.
create function private.is_reminded(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.invitations where application_id = application and private.is_reminder_recent(reminded_at)
  )
$$;

-- Refuses an invalid address of a site.
create function private.check_site(site text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(site, '') !~ '^(https?://[^\s<>"\\{}#?]+[^\s<>"\\{}#?/])?$' then
    raise exception 'This is no address of a site.' using errcode = '22023';
  end if;
end
$$;

-- A draft for an organiser's own mail program, with the applicant's link. The history records that the link was given. Where no
-- server knows the site's address, the desk gives it; older desks give the time zone, too. A letter with a deadline waits until a
-- time zone is set. The same act again gives the same.
create function public.desk_hand_over(act uuid, letter uuid, seen text, site text default null, zone text default null)
  returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  text jsonb;
  sent record;
begin
  if me.blind then
    raise exception 'Who reads blind sends no letter by hand.' using errcode = '22023';
  end if;
  perform private.check_site(site);
  perform private.lock_letters(array[letter]);
  select * into draft from private.letters where id = desk_hand_over.letter;
  text := case when draft.state = 'draft' then private.draft_text(draft, false) end;
  if text is null or text ->> 'seen' is distinct from seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif text -> 'missing' <> '[]' then
    raise exception 'This letter quotes what is blank.' using errcode = '22023';
  end if;
  if zone is not null then perform private.adopt_zone(zone); end if;
  if (private.has_link(text ->> 'body') or private.has_deadline((text ->> 'subject') || (text ->> 'body')))
    and exists (select from private.places where places.zone is null)
  then
    raise exception 'This letter has a deadline: first save the time zone under Places.' using errcode = '22023';
  end if;
  if private.has_link(text ->> 'body') then
    perform private.write_down(draft.application_id, act, me.email, 'link', jsonb_build_object('occasion', coalesce(draft.template, '')));
  end if;
  sent := private.to_send(draft.application_id, text ->> 'subject', text ->> 'body', site);
  return jsonb_build_object('subject', sent.subject, 'body', sent.body);
end
$$;
