-- One application: everything that is known about it.

-- One application with everything that is known about it. Blind readers get the details of some kinds of events only; of the
-- others they see only the kind, the author and the time. `hides_private`: private answers are hidden from others, too.
create function private.application_details(application uuid, blind boolean, hides_private boolean default false) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  application_row public.retreat_applications;
begin
  select * into application_row from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object(
    'application', (
      select private.form_answers(application_row, blind) || summary || case when not blind and application_row.email like '%xn--%' then jsonb_build_object(
        'shown_email', private.unicode_email(application_row.email)) else '{}' end
      from private.summaries(array[application], blind)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', private.author_shown(author, author_id), 'kind', kind,
        'detail', case
          when not blind or kind in ('status', 'note', 'revealed', 'told', 'answer', 'questions', 'kept', 'link', 'returned', 'added',
              'withdrawal')
            -- A hold that ended has no reason to hide.
            or kind = 'hold' and detail ->> 'reason' is null then detail
          else '{}' end) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', done_at, 'attempts', attempts, 'last_status', reply_status,
        'next_attempt_at', due_at)
      from private.deliveries where id = application
    ),
    'edition', application_row.edition,
    'erased_on', private.erased_on(application_row),
    'hold', (
      select jsonb_build_object('reason', case when not blind then reason end, 'held_by', private.author_shown(held_by), 'held_at', held_at)
      from private.holds where application_id = application
    ),
    'questions', case
      when exists (select from private.invitations where application_id = application and is_accepted and rsvp = 'coming')
        or exists (select from private.question_answers where application_id = application)
      then private.questions_of(application, application_row.edition, not (blind or hides_private))
      else '[]' end,
    'others', case when blind then '[]' else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'edition', edition, 'company', left(company, 200), 'status', status)), '[]')
      from (
        select id, other.created_at, other.edition, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where private.person(email) = private.person(application_row.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

-- A stamp that changes when anything that is known about an application changes. It reveals no text.
create function private.stamp(application uuid, account uuid) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return md5(jsonb_build_array(
    (select version from private.statuses where application_id = application),
    -- Not the RSVP's state, which also depends on today's date.
    (
      select jsonb_build_array(is_accepted, told_at, deadline, rsvp, rsvp_at)
      from private.invitations where application_id = application
    ),
    (
      select jsonb_build_array(private.erased_on(stored), questions_version)
      from public.retreat_applications as stored join private.editions on editions.id = stored.edition
      where stored.id = application
    ),
    -- Rows are only added to the history, so their number is enough.
    (select count(*) from private.history where application_id = application),
    private.marks_shown(application, account),
    -- Not the answers: blind readers could guess a private answer and compare the stamp.
    (
      select jsonb_agg(jsonb_build_array(question_id, answered_at) order by question_id)
      from private.question_answers where application_id = application
    ),
    (
      select jsonb_agg(jsonb_build_array(id, state, version) order by id)
      from private.letters where application_id = application
    ),
    (
      select jsonb_agg(jsonb_build_array(id, state, attempts, due_at, by, recalled_at) order by id)
      from private.deliveries
      where application in (id, application_id) and kind in ('application', 'letter', 'decision', 'receipt')
    )
  )::text);
end
$$;
