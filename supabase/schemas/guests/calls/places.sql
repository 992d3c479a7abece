-- Places: how many there are, who is coming, and who is on the waitlist.

-- The numbers of places and RSVPs of an edition, by default the newest, and its waitlist. The result is {version, places,
-- days, zone, is_zone_set, site, today, edition, editions, erasing, retreat, questions, coming, not_coming, no_answer, late,
-- not_told, to_remind, free, waitlisted, waitlist}. `editions` are all editions, the newest first. `erasing`: the announced
-- applications (privacy/retention.sql). `retreat` has the edition's days and venue. `questions` has the number of its questions,
-- and of people with `open` ones. `late` is a part of `no_answer`. `to_remind`: the reminders that `desk_remind` would draft.
-- `free` is null if the number of places is unknown, and negative if more people were accepted. `waitlist` has the first
-- twenty of those `waitlisted`. `zone` is `UTC` until one is set. Older desks send the argument `zone`, which is ignored.
create function public.desk_places(zone text default null, edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  -- Computed once, not for each row.
  today constant date := private.today();
  shown integer := private.edition_in(jsonb_build_object('edition', edition));
begin
  return (
    with states as (
      -- Grouped first, so that the counts below compare words once a state and not once a row.
      select state, count(*) as people, count(*) filter (
          where is_to_be_reminded and not is_reminded
            -- A subquery that PostgreSQL hashes: a join would take three times as long.
            and application_id not in (select private.with_unsent_letter('reminder'))
        ) as to_remind
      from (
        select application_id, private.rsvp_state(is_accepted, told_at, deadline, rsvp, today) as state,
          private.is_to_be_reminded(invitations, 'reminder', today) as is_to_be_reminded,
          coalesce(private.is_reminder_recent(reminded_at), false) as is_reminded
        from private.invitations join private.statuses using (application_id)
        where is_accepted and statuses.edition = shown and statuses.status = 'accepted'
      ) as invitations
      group by state
    ), counted as (
      select coalesce(sum(people) filter (where state = 'coming'), 0) as coming,
        coalesce(sum(people) filter (where state = 'not coming'), 0) as not_coming,
        coalesce(sum(people) filter (where state in ('no answer', 'late')), 0) as no_answer,
        coalesce(sum(people) filter (where state = 'late'), 0) as late,
        coalesce(sum(people) filter (where state = 'not told'), 0) as not_told,
        coalesce(sum(to_remind), 0) as to_remind
      from states
    ), open_questions as (
      select count(*) as people, count(*) filter (
          where not coalesce(private.is_reminder_recent(reminded_at), false)
            and application_id not in (select private.with_unsent_letter('questions'))
        ) as to_remind
      from private.invitations join private.statuses using (application_id)
      where is_accepted and rsvp = 'coming' and statuses.edition = shown and statuses.status = 'accepted'
        and (select private.has_required_questions(shown)) and private.has_open_questions(application_id)
    ), waiting as (
      select application_id, set_at from private.statuses
      where status = 'waitlisted' and statuses.edition = shown order by set_at, application_id limit 20
    )
    select to_jsonb(counted) || jsonb_build_object(
      'version', version, 'places', seats, 'days', days, 'zone', coalesce(settings.zone, 'UTC'),
      'is_zone_set', settings.zone is not null, 'site', site,
      'today', today, 'edition', shown, 'editions', private.editions_shown(),
      'erasing', private.announced_applications(), 'retreat', (
        select jsonb_build_object('version', calendar_sequence, 'starts_on', starts_on, 'ends_on', ends_on, 'venue', venue)
        from private.editions where editions.id = shown
      ), 'questions', jsonb_build_object(
        'questions', (select count(*) from private.questions where questions.edition = shown),
        'open', open_questions.people
      ), 'to_remind',
        least(counted.to_remind, 1000) + least(open_questions.to_remind, 1000),
      'free', seats - coming - no_answer - not_told,
      'waitlisted', private.count_with_status('waitlisted', shown, null),
      'waitlist', (
        select coalesce(jsonb_agg(
          jsonb_build_object('set_at', set_at) || (
            -- The beginnings of long form answers.
            select jsonb_object_agg(key,
              case jsonb_typeof(value) when 'string' then to_jsonb(left(value #>> '{}', 200)) else value end)
            from jsonb_each(private.form_answers(application, me.blind) || summary)
          )
          order by set_at, id), '[]')
        from waiting
          join public.retreat_applications as application on id = waiting.application_id
          join private.summaries(array(select application_id from waiting), me.blind) as summaries
            on summaries.application_id = id
      ))
    from private.places as settings, counted, open_questions, lateral (select private.places_of(shown) as seats) as known
  );
end
$$;
