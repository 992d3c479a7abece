-- The questions of an edition, by default the newest: {edition, version, questions, until, closes_on, private_days, erased_on,
-- due}. `until` is the last day for answers if organisers set it, and `closes_on` the one that counts. `due` counts the private
-- answers of all editions that are due to be erased. Each question has the number of its `answers`.
create function public.desk_questions(edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'edition', shown.id, 'version', questions_version,
      'until', questions_until, 'closes_on', coalesce(questions_until, starts_on),
      'private_days', private_days, 'erased_on', private.answers_erased_on(shown), 'due', private.count_due_answers(),
      'questions', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'kind', kind, 'text', text, 'choices', choices, 'is_required', is_required, 'is_private', is_private,
          'answers', (select count(*) from private.question_answers where question_id = questions.id)
        ) order by position), '[]')
        from private.questions where questions.edition = shown.id
      ))
    from private.editions as shown where id = private.edition_in(jsonb_build_object('edition', desk_questions.edition))
  );
end
$$;
