-- The limits of length, which the form has too.

-- A limit against abuse, far longer than any real answer. A trigger instead of a constraint keeps older rows valid,
-- including restored ones, and gives applicants a readable message.
create function private.refuse_too_long() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  answer record;
begin
  for answer in
    select key as name, value, case when key in ('custom_solution', 'reason') then 100000 else 10000 end as max_length
    from jsonb_each_text(to_jsonb(new))
  loop
    if char_length(answer.value) > answer.max_length then
      raise exception 'The answer "%" is too long: it may have up to % characters.',
        answer.name, ltrim(to_char(answer.max_length, '999,999')) using errcode = '23514', column = answer.name;
    end if;
  end loop;
  return new;
end
$$;

create trigger refuse_too_long before insert or update on public.retreat_applications for each row
  -- PostgreSQL prepares this condition for each statement, so it is short. No answer is longer than its whole row, which is
  -- not compressed yet.
  when (pg_column_size(new) > 10000)
  execute function private.refuse_too_long();
