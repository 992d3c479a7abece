-- The search and its index change in one transaction, so that each search folds its words as the index does.
do $$
declare
  stored_before uuid[] := array(select application_id from private.search_vectors);
begin
  -- Where `supabase db push` was interrupted the index before may be unfinished.
  if not exists (
    select from pg_index where indexrelid = to_regclass('public.retreat_applications_search_letters') and indisvalid
  ) then
    raise exception 'The index retreat_applications_search_letters is not complete.'
      using hint = 'Run "drop index concurrently if exists public.retreat_applications_search_letters", then the statement of 20261129110000_search_index_of_letters.sql, and push again.';
  end if;
  -- Most stored vectors change while people apply. Then nobody can apply for a moment, in which the newest vectors follow. ASCII
  -- folds as before.
  for pass in 1..2 loop
    if pass = 2 then lock table public.retreat_applications in access exclusive mode; end if;
    update private.search_vectors set (vector, blind_vector) = (
        select strip(answers || private.search_vector_letters(first_name, last_name, email, linkedin, company, '', '')),
          strip(answers)
        from private.search_vector_letters('', '', '', '', '', custom_solution, reason) as answers)
      from public.retreat_applications
      where id = application_id and (application_id = any (stored_before)) = (pass = 1)
        and concat(first_name, last_name, email, linkedin, company, custom_solution, reason) ~ '[^\u0001-\u007f]';
  end loop;
  drop index public.retreat_applications_search;
  drop function private.search_vector(text, text, text, text, text, text, text);
  drop function private.folded(text);
  alter function private.search_vector_letters rename to search_vector;
  alter function private.folded_letters rename to folded;
  alter index public.retreat_applications_search_letters rename to retreat_applications_search;
end
$$;
