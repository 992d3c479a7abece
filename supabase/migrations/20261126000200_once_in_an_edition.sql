-- The index that takes the place of `retreat_applications_once` in the next file. It is built while people apply.
create unique index concurrently if not exists retreat_applications_once_in_edition on public.retreat_applications (
  edition,
  md5(
    md5(first_name) || md5(last_name) || md5(email) || md5(phone) || md5(linkedin) || md5(company)
    || md5(paid_solution) || md5(custom_solution) || md5(team_size) || md5(reason)
    || case when consent then 't' else 'f' end
  )
);
