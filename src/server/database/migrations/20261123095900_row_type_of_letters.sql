-- Newer minor versions of PostgreSQL refuse a new column of a table whose row type an expression of the catalogue uses,
-- such as the body of this function; so it is text, before the next migrations add columns. Where they were applied
-- before this one, the function may be another by now, and stays.
do $migration$
begin
  if (select prosqlbody is null from pg_proc where oid = 'private.is_to_applicant(private.letters)'::regprocedure) then
    return;
  end if;

  create or replace function private.is_to_applicant(letter private.letters) returns boolean
    language sql stable set search_path = ''
  as $$
    select letter.way = 'mail' or not exists (
      select from private.letters as mail
      where mail.application_id = letter.application_id and mail.act = letter.act and mail.way = 'mail'
    )
  $$;
end
$migration$;
