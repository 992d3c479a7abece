-- The first steps: `done` has those that the database knows to be done, `ticked` those that organisers ticked.
-- `has_mail`: whether a server sends emails now. `has_server`: whether a server of ours ever worked on this database. Otherwise a hosted project makes the backups.
create function public.desk_first_steps() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  has_erased constant boolean := exists (select from private.erasures);
begin
  return (
    select jsonb_build_object(
      'done', array_remove(array[
        case when newest.starts_on is not null and places.places is not null and places.zone is not null then 'days' end,
        case when has_erased or exists (select from public.retreat_applications) then 'application' end,
        case when has_erased then 'erased' end,
        case when private.is_recent(seen_at) and failing_since is null and checked_at > '-infinity' and not exists (
          select from jsonb_array_elements(findings) as finding where finding ->> 'verdict' = 'wrong'
        ) then 'mail' end,
        case when page.version > 0 then 'page' end,
        case when exists (select from private.questions where edition = newest.id) then 'questions' end,
        case when door.version > 0 then 'door' end,
        case when private.is_shared() and not exists (
          select from private.organisers join auth.users on users.id = account_id where last_sign_in_at is null
        ) then 'colleagues' end,
        case when exists (
          select from auth.mfa_factors where user_id = me.id and status::text = 'verified'
        ) then 'factor' end,
        case when organisers.notices <> 'off' then 'notices' end,
        case when backed_up_at > now() - interval '2 days' then 'backups' end
      ], null),
      'ticked', ticked,
      'has_mail', private.is_recent(seen_at),
      'has_server', site <> '' or backed_up_at is not null or exists (select from private.visits)
    )
    from private.first_steps, private.places, private.postman, private.door, private.page, private.organisers, (
      select id, starts_on from private.editions order by id desc limit 1
    ) as newest
    where organisers.account_id = me.id
  );
end
$$;
