-- Letters as organisers see them.

-- One row for each delivery of a letter, a decision or a receipt, in the desk's terms.
create view private.letter_deliveries as
  select delivery.id, delivery.application_id, letter_id, delivery.subject, delivery.body, queued_at, due_at, done_at,
    recalled_at, recalled_by, attempts, may_have_arrived, reply, act, author,
    kind <> 'receipt' and not is_beside as is_main,
    case kind when 'receipt' then 'received' else coalesce(template, '') end as occasion,
    case kind when 'decision' then 'automation' else 'mail' end as way,
    case delivery.state when 'done' then 'sent' when 'cancelled' then 'withdrawn'
      when 'failed' then case when is_refused then 'refused' else 'given up' end else delivery.state end as state,
    case by when 'hand' then 'by hand' when 'elsewhere' then 'told' end as otherwise
  from private.deliveries as delivery left join private.letters on letters.id = letter_id
  where kind in ('letter', 'decision', 'receipt');

-- The recipient of a letter, as an organiser may see it.
create function private.addressee(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object('application', application.id,
    'to', case when not blind then private.unicode_email(private.address_of(application.id, application.email)) end,
    'name', case when not blind then private.full_name(application) end)
$$;

-- Drafts as an organiser may see them, in the order of `ids`. In the result, `edition` is no retreat: it is 1 when a letter is
-- sent for the first time, 2 for the second, and so on. `answer` is the receiver's reply. `failed_at`: when a letter to this address
-- last failed. Deliveries below have the other keys.
create function private.drafts_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.draft_text(letter, blind) || private.addressee(application, blind) || jsonb_build_object(
      'id', letter.id, 'occasion', coalesce(template, ''), 'edition', 1 + private.times_told(letter.id), 'way', 'mail',
      'state', 'draft', 'is_edited', letter.subject is not null, 'author', null, 'act', null, 'released_at', null,
      'due_at', null, 'attempts', 0, 'uncertain', 0, 'sent_at', null, 'withdrawn_at', null, 'withdrawn_by', null,
      'answer', '', 'otherwise', null,
      'failed_at', case when not blind then private.last_failure(private.address_of(application.id, application.email)) end
    ) order by position), '[]')
  from unnest(ids) with ordinality as shown (id, position)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

-- Deliveries as an organiser may see them, in the order of `ids`. Blind readers do not see the text: it names the applicant.
create function private.letter_deliveries_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.addressee(application, blind) || jsonb_build_object(
      'subject', case when blind then '(hidden)' else subject end, 'body', case when blind then '(hidden)' else body end,
      'seen', '', 'missing', '[]'::jsonb, 'unknown', '[]'::jsonb, 'is_long', false, 'is_edited', false,
      'id', delivery.id, 'occasion', occasion, 'edition', 1 + (
        select count(*) from private.deliveries as earlier
        where earlier.letter_id = delivery.letter_id and earlier.queued_at < delivery.queued_at and private.has_told(earlier)
          and earlier.act is distinct from delivery.act
      ), 'way', way, 'state', state, 'author', private.author_shown(author), 'act', act, 'released_at', queued_at, 'due_at', due_at,
      'attempts', attempts, 'uncertain', may_have_arrived, 'sent_at', done_at, 'withdrawn_at', recalled_at,
      'withdrawn_by', private.author_shown(recalled_by), 'answer', case when not blind then reply else '' end, 'otherwise', otherwise
    ) order by position), '[]')
  from unnest(ids) with ordinality as shown (id, position)
    join private.letter_deliveries as delivery using (id)
    join public.retreat_applications as application on application.id = delivery.application_id
$$;

-- The letters of some applications that were released, the oldest first.
create function private.sent_letters_of(applications uuid[], blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return private.letter_deliveries_shown(array(
    select id from private.deliveries
    where application_id = any (applications) and kind in ('letter', 'decision', 'receipt')
    order by queued_at, is_beside, id
  ), blind);
end
$$;

-- The letters of some applications, the oldest first, and then their drafts.
create function private.letters_of(applications uuid[], blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return private.sent_letters_of(applications, blind) || private.drafts_shown(array(
    select id from private.letters where application_id = any (applications) and state = 'draft' order by drafted_at, id
  ), blind);
end
$$;

-- The states of the letters of some applications, without their texts, the oldest first, and then the drafts of decisions.
create function private.letter_states(applications uuid[]) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state, 'otherwise', otherwise, 'sent_at', done_at)
      order by state = 'draft', queued_at, way = 'automation', id), '[]')
    from (
      select application_id, occasion, way, state, otherwise, done_at, queued_at, id
      from private.letter_deliveries where application_id = any (applications) and state <> 'withdrawn'
      union all
      select application_id, template, 'mail', 'draft', null, null, drafted_at, id
      from private.letters where application_id = any (applications) and state = 'draft' and private.is_decision(template)
    ) as letters
  );
end
$$;

-- Records in the history what somebody did to letters in general.
create function private.write_down_letters(author text, detail jsonb) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.history (author, kind, detail)
      values (write_down_letters.author, 'letters', write_down_letters.detail);
  end;

-- The state of all letters: the drafts of each template, the letters that did not arrive, and whether a server sends them.
-- Counts go up to a thousand, as for applications.
create function private.letters_overview(blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'confirmations', confirmations, 'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', private.is_recent(seen_at), 'is_automation_there', private.is_recent(automation_seen_at),
        'is_webhook_there', private.is_recent(webhook_seen_at),
        'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and private.is_recent(check_wanted_at),
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'has_no_site', exists (select from private.places where site = ''),
      'without_link', to_jsonb(private.told_without_link()),
      'templates', (
        select jsonb_agg(private.template_shown(template) || jsonb_build_object('drafts', (
          select private.up_to_thousand(count(*))
          from (select from private.letters where state = 'draft' and coalesce(letters.template, '') = name limit 1001) as counted
        )) order by array_position('{received,accepted,waitlisted,declined,reminder,confirmed,questions}', name), name)
        from private.templates as template
      ),
      -- Drafts of letters to one person.
      'personal', (
        select private.up_to_thousand(count(*))
        from (select from private.letters where state = 'draft' and coalesce(template, '') = '' limit 1001) as counted
      ),
      -- Released letters that can still be stopped, by act. A single recipient has a name.
      'leaving', (
        select coalesce(jsonb_agg(jsonb_build_object('act', act, 'count', count,
          'seconds', ceil(extract(epoch from due_at - now()))::integer, 'name', case
            when count = 1 and not blind
            then (select private.full_name(application) from public.retreat_applications as application where id = recipients[1])
          end) order by due_at), '[]')
        from (
          select act, count(distinct application_id), array_agg(application_id) as recipients, max(due_at) as due_at
          from private.deliveries
          where kind in ('letter', 'decision') and state = 'waiting' and due_at > now() and attempts = 0
          group by act
        ) as leaving
      ),
      'states', (
        select jsonb_object_agg(name, private.up_to_thousand(count))
        from (values
          ('waiting', (select count(*) from (
            select from private.deliveries
            where kind in ('letter', 'decision', 'receipt') and state in ('waiting', 'sending') limit 1001) as counted)),
          ('refused', (select count(*) from (
            select from private.deliveries
            where kind in ('letter', 'decision', 'receipt') and state = 'failed' and is_refused limit 1001) as counted)),
          ('given up', (select count(*) from (
            select from private.deliveries
            where kind in ('letter', 'decision', 'receipt') and state = 'failed' and not is_refused limit 1001) as counted))
        ) as counts (name, count)
      )
    )
    from private.postman
  );
end
$$;
