-- A browser sends a domain in ASCII, so an organiser's account with another form of it never got a code.
do $$
begin
  if exists (select from auth.users where octet_length(email) > char_length(email)) then
    update auth.users set email = private.ascii_email(email)
      where octet_length(email) > char_length(email)
        and not exists (select from auth.users as other where other.email = private.ascii_email(users.email));
  end if;
end
$$;
