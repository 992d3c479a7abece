-- Everything about a person, for a subject access request to an organiser or an operator: what every table has about them.
-- `person.test.ts` fails if a column of the database is missing here, except those that it names.

-- The emails of an application: the one that it gave, and all with which organisers replaced it.
create function private.emails_of(application uuid) returns text[]
  language sql stable set search_path = ''
as $$
  select array(
    select email from public.retreat_applications where id = application
    union select address from private.addresses where application_id = application
    union select detail ->> 'address' from private.history where application_id = application and kind = 'address'
  )
$$;

-- The applications that gave an email, the newest first.
create function private.applications_of(email text) returns uuid[]
  language sql stable set search_path = ''
as $$
  select array(
    select id from public.retreat_applications as application
    where private.person(application.email) = private.person(applications_of.email)
    order by created_at desc, id desc
  )
$$;

-- The applications that gave another email, and to which only an address leads with which organisers ever replaced another. They
-- may be another person's: organisers mistype, too. `others`: more emails of the person. `address`: the replacement that leads to
-- the application, null if the application itself gave it. At most `most`, the newest first.
create function private.applications_by_address(email text, others text[], most integer) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  person constant text := private.person(applications_by_address.email);
  people constant text[] := array(select private.person(given) from unnest(others || applications_by_address.email) as given);
begin
  return (
    with replacements as materialized (
      select application_id, address from private.addresses where private.person(address) = any (people)
      union select application_id, detail ->> 'address' from private.history
        where kind = 'address' and private.person(detail ->> 'address') = any (people)
    ), reached as (
      select application as row, (select min(address) from replacements where application_id = id) as address
      from public.retreat_applications as application
      where (private.person(application.email) = any (people) or id = any (array(select application_id from replacements)))
        and private.person(application.email) <> person
      order by created_at desc, id desc limit most
    )
    select coalesce(jsonb_agg(private.names(row) || jsonb_build_object(
      'id', (row).id, 'created_at', (row).created_at, 'email', (row).email, 'address', address
    ) order by (row).created_at desc, (row).id desc), '[]')
    from reached
  );
end
$$;

-- The deliveries about an application, the oldest first, each with its recipient: an email address, or `webhook`. A daily notice
-- is among them if it may have named the applicant.
create function private.deliveries_about(application public.retreat_applications) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  daily constant uuid[] := array(
    select id from private.deliveries
    -- The first condition is for the index, which begins with the organiser.
    where organiser_id in (select account_id from private.organisers) and kind = 'notice' and until is not null and (
      application.created_at > since and application.created_at <= until or exists (
        select from private.history as event
        where event.application_id = application.id and event.kind in ('answer', 'withdrawal') and at > since and at <= until
      )
    )
  );
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', delivery.id, 'kind', kind, 'letter', letter_id,
      'event', (select event.act from private.history as event where event.id = event_id),
      'recipient', case
        when organiser_id is not null then (select email from auth.users where users.id = organiser_id)
        when kind in ('application', 'rsvp', 'decision') then 'webhook'
        else private.recipient(delivery)
      end,
      'subject', subject, 'body', body, 'since', since, 'until', until, 'state', state, 'by', "by", 'act', act, 'author', author,
      'queued_at', queued_at, 'due_at', due_at, 'tried_at', tried_at, 'done_at', done_at, 'attempts', attempts,
      'reply_status', reply_status, 'reply', reply, 'is_refused', is_refused, 'may_have_arrived', may_have_arrived,
      'closings', closings, 'recalled_at', recalled_at, 'recalled_by', recalled_by, 'is_beside', is_beside,
      'mailbox', mailbox, 'domain', domain, 'failures', (
        select coalesce(jsonb_agg(jsonb_build_object('address', address, 'at', at) order by at, address), '[]')
        from private.failures where delivery_id = delivery.id
      )
    ) order by queued_at, delivery.id), '[]')
    from private.deliveries as delivery
    where delivery.application_id = application.id or delivery.id = application.id or delivery.id = any (daily)
  );
end
$$;

-- The acts of the last day that name an application: those of its history, and those whose result has it, one of its letters or
-- one of its deliveries.
create function private.acts_about(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  ids constant text[] := array(
    select application::text
    union all select id::text from private.letters where application_id = application
    union all select id::text from private.deliveries where application_id = application
  );
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'act', acts.act, 'at', at, 'call', call, 'author', email, 'result', own_result
    ) order by at, acts.act), '[]')
    from private.acts
      left join auth.users on users.id = account_id
      cross join lateral (
        -- The other entries of a list are about other people.
        select case when jsonb_typeof(result) = 'array' then (
          select jsonb_agg(entry) from jsonb_array_elements(result) as entry where private.ids_in(entry) ?| ids
        ) else result end as own_result
      ) as filtered
    where acts.act = any (array(
      select event.act from private.history as event where event.application_id = application
      union select named.act from private.acts as named
        where jsonb_typeof(named.result) = 'array' and private.ids_in(named.result) ?| ids
    ))
  );
end
$$;

-- An application with what every table has about it. `reader`: the organiser who reads it, who gets the marks that they may see;
-- null for an operator, who gets all.
create function private.all_about_application(application uuid, reader uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  stored public.retreat_applications;
begin
  select * into stored from public.retreat_applications where id = application;
  return jsonb_build_object(
    'id', stored.id, 'created_at', stored.created_at,
    'edition', (
      select jsonb_build_object('number', id, 'name', name, 'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
      from private.editions where id = stored.edition
    ),
    'answers', jsonb_build_object(
      'first_name', stored.first_name, 'last_name', stored.last_name, 'email', stored.email, 'phone', stored.phone,
      'linkedin', stored.linkedin, 'company', stored.company, 'paid_solution', stored.paid_solution,
      'custom_solution', stored.custom_solution, 'team_size', stored.team_size, 'reason', stored.reason),
    -- The form's sentence of consent. People consent by sending the form, so the time is the application's. Somebody whom an
    -- organiser added was not asked.
    'consent', jsonb_build_object(
      'given', stored.consent, 'added_by', private.adder(stored), 'at', stored.created_at,
      'sentence', case when stored.added_by is null then 'I consent to receiving communications from this team' end),
    'address', (select address from private.addresses where application_id = application),
    'status', coalesce((
      select jsonb_build_object('status', status, 'version', version, 'set_at', set_at, 'withdrawn_at', withdrawn_at)
      from private.statuses where application_id = application
    ), '{"status": "new", "version": 0, "set_at": null, "withdrawn_at": null}'),
    'has_withdrawal_link', exists (select from private.withdrawal_links where application_id = application),
    -- The hold, which exempts the application from the retention.
    'hold', (
      select jsonb_build_object('reason', reason, 'held_by', held_by, 'held_at', held_at)
      from private.holds where application_id = application
    ),
    'marks', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'author', author, 'mark', mark, 'why', why, 'at', at, 'is_after_seeing', is_after_seeing, 'has_seen', has_seen,
        'was_shown', was_shown) order by at, account_id), '[]')
      from private.marks
      where application_id = application and (reader is null or account_id in (
        select account_id from private.visible_marks(reader) as visible where visible.application_id = application
      ))
    ),
    'are_marks_hidden', reader is not null and not exists (
      select from private.marks where application_id = application and account_id = reader and mark is not null
    ) and not exists (
      select from private.statuses where application_id = application and private.is_decision(status)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind, 'detail', detail) order by id), '[]')
      from private.history where application_id = application
    ),
    'invitation', (
      select jsonb_build_object(
        'has_link', token is not null, 'is_accepted', is_accepted, 'told_at', told_at, 'reminded_at', reminded_at,
        'deadline', deadline, 'is_deadline_set', is_deadline_set, 'rsvp', rsvp, 'rsvp_at', rsvp_at,
        'is_without_link', is_without_link)
      from private.invitations where application_id = application
    ),
    'questions', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', question_id, 'question', text, 'is_private', is_private, 'answer', answer, 'answered_at', answered_at
      ) order by position), '[]')
      from private.question_answers join private.questions on questions.id = question_id where application_id = application
    ),
    'letters', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'template', template, 'state', state, 'subject', subject, 'body', body, 'version', version,
        'drafted_at', drafted_at) order by drafted_at, id), '[]')
      from private.letters where application_id = application
    ),
    'deliveries', private.deliveries_about(stored),
    'acts', private.acts_about(application)
  );
end
$$;

-- The account with an email; null if there is none. `reader`: the organiser who reads it. Of another's account they get `email`,
-- `name` and `organiser_since`, and the rest is null: it would tell what a colleague has marked. Null for an operator, who gets
-- all, and what is stored under the email of a removed account, which reads whole tables. `organiser_since` is null unless it is
-- an organiser's.
create function private.account_of(email text, reader uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object('email', asked.email, 'name', name, 'organiser_since', organiser.created_at) || case
      when reader <> users.id then
        '{"created_at": null, "last_sign_in_at": null, "blind": null, "reads_only": null, "is_reader": null, "notices": null, "history": null, "marks": null}'
      else jsonb_build_object(
        'created_at', users.created_at, 'last_sign_in_at', last_sign_in_at,
        'blind', blind, 'reads_only', reads_only, 'is_reader', is_reader, 'notices', notices,
        'history', (
          select count(*) from private.history
          where author_id = users.id or users.id is null and author = asked.email
            or kind = 'organiser' and detail ->> 'organiser' = asked.email
        ),
        'marks', (
          select count(*) from private.marks where marks.account_id = users.id or users.id is null and author = asked.email
        ))
      end
    from (select private.unicode_email(lower(private.trimmed(account_of.email))) as email) as asked
      left join auth.users on users.email = private.ascii_email(asked.email)
      left join private.organisers as organiser on organiser.account_id = users.id
    where users.id is not null or reader is null and (
      exists (
        select from private.history where author = asked.email or kind = 'organiser' and detail ->> 'organiser' = asked.email
      )
      or exists (select from private.marks where author = asked.email)
      or exists (select from private.holds where held_by = asked.email)
      or exists (select from private.deliveries where author = asked.email)
    )
    -- In a hosted project, several accounts may have one email.
    order by organiser.created_at, users.id limit 1
  );
end
$$;

-- Everything about the person of an email: {email, applications, left_out, by_address, account}. At most `most` applications, the
-- newest first, and `left_out` counts the others. `others`: more emails of this person. They lead only to `by_address`.
create function private.all_about(
  email text, reader uuid default null, most integer default null, others text[] default '{}'
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  applications constant uuid[] := private.applications_of(all_about.email);
begin
  return jsonb_build_object(
    'email', all_about.email,
    'applications', (
      select coalesce(jsonb_agg(private.all_about_application(id, reader) order by position), '[]')
      from unnest(applications[:coalesce(most, cardinality(applications))]) with ordinality as one (id, position)
    ),
    'left_out', greatest(0, cardinality(applications) - most),
    'by_address', private.applications_by_address(all_about.email, others, most),
    'account', private.account_of(all_about.email, reader)
  );
end
$$;
