-- Withdrawals: applicants withdraw their application by the link in its receipt, until it is decided. It is a time beside the
-- status, since statuses are the organisers' (docs/decisions/0082).

-- Whether an application is withdrawn.
create function private.is_withdrawn(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.statuses where application_id = application and withdrawn_at is not null)
$$;

-- Refuses to send something to the applicant of a withdrawn application.
create function private.refuse_withdrawn(application uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if private.is_withdrawn(application) then
    raise exception 'The applicant withdrew this application, so no letter is sent to them.' using errcode = 'PT409';
  end if;
end
$$;

-- The link in the receipt of an application; null if the site's address is unknown.
create function private.withdrawal_link(application uuid) returns text
  language sql stable set search_path = ''
as $$
  select nullif(site, '') || '/withdraw/#' || token
  from private.places cross join private.withdrawal_links where application_id = application
$$;

-- The application of a receipt's link; null if the token is unknown, or its application is not of the newest edition.
create function private.application_of_receipt(token text) returns uuid
  language sql stable set search_path = ''
as $$
  select application.id
  from private.withdrawal_links as link join public.retreat_applications as application on application.id = link.application_id
  where link.token = private.stored_token(application_of_receipt.token)
    and application.edition = (select max(id) from private.editions)
$$;

-- Withdraws an application, or takes that back. The caller has locked the application. Its letters that were not sent are dropped,
-- and those to one person become drafts, which nobody can send while it is withdrawn. The status and its version stay: the number
-- of decisions is the same.
create function private.set_withdrawn(application uuid, act uuid, is_withdrawn boolean) returns void
  language plpgsql set search_path = ''
as $$
begin
  insert into private.statuses (application_id, status, version) values (application, 'new', 0) on conflict do nothing;
  update private.statuses set withdrawn_at = case when set_withdrawn.is_withdrawn then now() end
    where application_id = application and (withdrawn_at is not null) <> set_withdrawn.is_withdrawn;
  if not found then return; end if;
  perform private.write_down(
    application, act, 'applicant', 'withdrawal', jsonb_build_object('is_withdrawn', set_withdrawn.is_withdrawn));
  if set_withdrawn.is_withdrawn then perform private.drop_letters(application); end if;
  perform private.write_event_notices(application, act);
end
$$;

-- Takes a withdrawal back if the same form answers are sent again, in place of storing them. Otherwise they would count as a
-- repeat, and applicants would read that they have applied. It runs before the insert, since a repeat ends the statement.
create function private.revive_withdrawn() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  same uuid;
begin
  -- Most retreats have none, and then an insert only looks into an empty index. Only applicants take a withdrawal back, and not
  -- organisers who add somebody.
  if new.added_by is not null or not exists (select from private.statuses where withdrawn_at is not null) then return new; end if;
  -- The unique index finds it.
  select id into same from public.retreat_applications as former
    where former.edition = new.edition and private.answers_digest(former) = private.answers_digest(new);
  if not private.is_withdrawn(same) then return new; end if;
  perform private.lock_for_letters(array[same]);
  -- Checked again under the lock: another request may have been quicker, and this one is a repeat.
  if not private.is_withdrawn(same) then return new; end if;
  perform private.set_withdrawn(same, gen_random_uuid(), false);
  return null;
end
$$;

create trigger revive_withdrawn before insert on public.retreat_applications
  for each row execute function private.revive_withdrawn();
