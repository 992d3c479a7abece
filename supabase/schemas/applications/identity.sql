-- Identity: by which names applicants are shown, which applications have the same answers, and which are of one person.

-- An applicant's full name; if it is blank the email, and without any the words that the desk has for a hidden name.
create function private.full_name(application public.retreat_applications) returns text
  language sql immutable parallel safe
as $$
  select coalesce(
    nullif(private.trimmed(left(application.first_name, 200) || ' ' || left(application.last_name, 200)), ''),
    nullif(private.unicode_email(private.trimmed(left(application.email, 200))), ''), 'Application ' || left(application.id::text, 4))
$$;

-- What every row with an applicant's name also has if the name is blank: `name`, the words in its place.
create function private.blank_name(application public.retreat_applications) returns jsonb
  language sql stable
as $$
  select case when private.trimmed(application.first_name || application.last_name) = ''
    then jsonb_build_object('name', private.full_name(application)) else '{}' end
$$;

-- An applicant's name in lists, cut like all texts there.
create function private.names(application public.retreat_applications) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('first_name', left(application.first_name, 200), 'last_name', left(application.last_name, 200))
    || private.blank_name(application)
$$;

-- The digest of the eleven form answers, as the index has it. It sets no search path, so that PostgreSQL can inline it.
create function private.answers_digest(application public.retreat_applications) returns text
  language sql immutable parallel safe
as $$
  select md5(
    md5(application.first_name) || md5(application.last_name) || md5(application.email) || md5(application.phone)
    || md5(application.linkedin) || md5(application.company) || md5(application.paid_solution)
    || md5(application.custom_solution) || md5(application.team_size) || md5(application.reason)
    || case when application.consent then 't' else 'f' end
  )
$$;

-- Identifies a person by their email address, to find repeated applications and to erase all applications of a person
-- together. A digest, because an index entry holds at most 2,704 bytes. Receipts use the mailbox instead, which treats more
-- addresses as equal.
create function private.person(email text) returns text
  language sql immutable parallel safe
  return md5(lower(private.ascii_email(private.trimmed(email))));
create index retreat_applications_person on public.retreat_applications (private.person(email));
