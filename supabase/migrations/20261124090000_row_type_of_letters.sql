-- Whether a letter is what an applicant was written: by mail, or where there was none by the automation. As text: newer
-- minor versions of PostgreSQL refuse a new column of a table whose row type an expression of the catalogue uses.
create or replace function private.is_to_applicant(letter private.letters) returns boolean
  language sql stable set search_path = ''
as $$
  select letter.way = 'mail' or not exists (
    select from private.letters as mail
    where mail.application_id = letter.application_id and mail.act = letter.act and mail.way = 'mail'
  )
$$;
