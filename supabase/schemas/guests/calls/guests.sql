-- Up to 1,000 people who are coming to the retreat of an edition, by default the newest: {guests: [{id, first_name, last_name,
-- email, phone, company, answers}], next}. `answers` are by the id of the question, and `next` is the cursor for the next call.
-- Blind readers get only ids, and answers that are not private.
create function public.desk_guests(after jsonb default null, edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    with guests as (
      select application.*, private.names(application) as names
      from private.invitations join public.retreat_applications as application on application.id = application_id
      where is_accepted and rsvp = 'coming'
        and application.edition = private.edition_in(jsonb_build_object('edition', desk_guests.edition))
        and (after is null or application.id > (after ->> 'id')::uuid)
      order by application.id limit 1001
    ), shown as (
      select * from guests order by id limit 1000
    )
    select jsonb_build_object(
      'guests', coalesce(jsonb_agg(jsonb_build_object('id', shown.id, 'answers', (
        select coalesce(jsonb_object_agg(question_id, answer), '{}')
        from private.question_answers join private.questions on questions.id = question_id
        where application_id = shown.id and not (me.blind and is_private)
      )) || case when me.blind then '{}' else names || jsonb_build_object('email', left(email, 200),
        'phone', left(phone, 200), 'company', left(company, 200)) end order by shown.id), '[]'),
      'next', case when (select count(*) from guests) > 1000
        then jsonb_build_object('id', (array_agg(shown.id order by shown.id desc))[1]) end)
    from shown
  );
end
$$;
