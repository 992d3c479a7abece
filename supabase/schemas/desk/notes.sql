-- Notes: which of them an organiser has not seen.

-- The time up to which an organiser has seen the notes about an application.
create function private.notes_seen_until(application uuid, account uuid) returns timestamptz
  language sql stable set search_path = ''
as $$
  select greatest(notes_from, (
    select private.if_past(until) from private.seen_notes where application_id = application and seen_notes.account_id = account
  )) from private.organisers where account_id = account
$$;

-- Those of some applications that have a note of somebody else which an organiser has not seen.
create function private.with_new_notes(applications uuid[], account uuid) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(distinct application_id), '[]') from private.history
  where application_id = any (applications) and kind = 'note' and author_id is distinct from account
    and at > private.notes_seen_until(application_id, account)
$$;
