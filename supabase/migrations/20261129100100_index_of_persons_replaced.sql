-- `private.person` trims more characters than before, so that the former index may have other digests of some emails.
do $$
begin
  -- Where `supabase db push` was interrupted the index before may be unfinished.
  if not exists (
    select from pg_index where indexrelid = to_regclass('public.retreat_applications_person_trimmed') and indisvalid
  ) then
    raise exception 'The index retreat_applications_person_trimmed is not complete.'
      using hint = 'Run "drop index concurrently if exists public.retreat_applications_person_trimmed", then the statement of 20261129100000_index_of_trimmed_emails.sql, and push again.';
  end if;
  drop index public.retreat_applications_person;
  alter index public.retreat_applications_person_trimmed rename to retreat_applications_person;
end
$$;
