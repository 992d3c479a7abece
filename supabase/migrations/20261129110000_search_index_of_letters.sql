-- Finds `Łukasz` by `lukasz`. The next file puts it in the place of `retreat_applications_search`.
create index concurrently if not exists retreat_applications_search_letters on public.retreat_applications using gin (
  private.search_vector_letters(first_name, last_name, email, linkedin, company, custom_solution, reason)
) with (fastupdate = on, gin_pending_list_limit = 256);
