-- Export: complete applications in large batches.

-- The organisers' work on some applications, for the exported table: when and by whom the status was last changed, the notes, and
-- the state of the letters. It also has the time of a withdrawal, the RSVP, and the answers to questions that are not private. It has no address and no
-- text of a letter, so that organisers who read blind may read it.
create function private.made_of(applications uuid[]) returns table (application_id uuid, made jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    with happened as (
      select history.application_id as id,
        (array_agg(coalesce(name, author) order by history.id desc) filter (where kind = 'status'))[1] as author,
        max(at) filter (where kind = 'status') as decided_at,
        jsonb_agg(jsonb_build_object('at', at, 'author', coalesce(name, author), 'note', detail ->> 'note') order by history.id)
          filter (where kind = 'note') as notes
      from private.history left join private.organisers on account_id = author_id
      where history.application_id = any (applications) and kind in ('status', 'note') group by 1
    ), written as (
      select delivery.application_id as id, jsonb_agg(jsonb_build_object(
        'occasion', occasion, 'way', way, 'state', state, 'otherwise', otherwise,
        'at', coalesce(done_at, queued_at)) order by queued_at, way = 'automation', delivery.id) as letters
      from private.letter_deliveries as delivery
      where delivery.application_id = any (applications) and state <> 'withdrawn' group by 1
    ), guests as (
      select given.application_id as id,
        jsonb_agg(jsonb_build_object('question', asked.text, 'answer', given.answer) order by asked.position) as questions
      from private.question_answers as given join private.questions as asked on asked.id = question_id
      where given.application_id = any (applications) and not is_private group by 1
    )
    select each_one, jsonb_build_object(
      'answer', answer, 'answered_at', answered_at, 'questions', coalesce(questions, '[]'), 'withdrawn_at', withdrawn_at,
      'decided_by', author, 'decided_at', decided_at,
      'notes', coalesce(notes, '[]'), 'letters', coalesce(letters, '[]'))
    from unnest(applications) as each_one
      left join happened on happened.id = each_one
      left join written on written.id = each_one
      left join guests on guests.id = each_one
      left join private.standings as standing on standing.application_id = each_one
      left join private.statuses as own on own.application_id = each_one;
end
$$;
