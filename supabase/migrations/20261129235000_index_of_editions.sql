create index concurrently if not exists retreat_applications_of_edition on public.retreat_applications (edition, created_at desc, id desc);
