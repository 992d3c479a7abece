create index concurrently if not exists retreat_applications_person_trimmed on public.retreat_applications (private.person(email));
