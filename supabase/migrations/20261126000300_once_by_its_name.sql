-- In one statement: under any other name a repeated send is not known as one.
do $$
begin
  -- Where `supabase db push` was interrupted the index before may be unfinished, and would not keep copies out.
  if not exists (
    select from pg_index where indexrelid = to_regclass('public.retreat_applications_once_in_edition') and indisvalid
  ) then
    raise exception 'The index retreat_applications_once_in_edition is not complete.'
      using hint = 'Run "drop index concurrently if exists public.retreat_applications_once_in_edition", then the statement of 20261126000200_once_in_an_edition.sql, and push again.';
  end if;
  drop index public.retreat_applications_once;
  alter index public.retreat_applications_once_in_edition rename to retreat_applications_once;
end
$$;
