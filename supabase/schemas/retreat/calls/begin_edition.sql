-- The drafts with their template's text, filled in. Placeholders that are blank or unknown stay in the text, so that the draft
-- cannot be sent before an organiser edits it. So do all placeholders if the text would be too long.
create function private.filled_drafts() returns setof private.letters
  language sql stable set search_path = ''
as $$
  select draft.*
  from private.letters as letter join private.templates as former on former.name = letter.template
    join public.retreat_applications as application on application.id = letter.application_id
    cross join lateral private.filled(former.subject, former.body, application, false) as text
    cross join lateral jsonb_populate_record(letter, case when (text ->> 'is_long')::boolean
      then jsonb_build_object('subject', former.subject, 'body', former.body) else text end) as draft
  where letter.state = 'draft' and letter.subject is null
$$;

-- Waits until nobody reads or writes applications, and blocks reading and writing until the transaction ends. It also locks the
-- rows that a new edition changes, since other calls lock them before applications. A waiting lock request blocks all later
-- applicants, so each attempt waits only briefly, and all attempts together less than a statement may take.
create function private.lock_all_applications() returns void
  language plpgsql set search_path = '' set lock_timeout = '100ms'
as $$
begin
  for attempt in 1 .. 20 loop
    begin
      lock table public.retreat_applications in access exclusive mode;
      perform from private.door for update;
      perform from private.editions order by id for update;
      perform from private.places for update;
      perform from private.page for update;
      perform from private.templates order by name for update;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'Applications are being read at this moment, such as for a backup. Please try again in some minutes.'
    using errcode = 'PT503';
end
$$;

-- Gives drafts that still have their template's text these texts.
create function private.freeze_texts(drafts private.letters[]) returns void
  language sql set search_path = ''
as $$
  update private.letters as letter set version = letter.version + 1, subject = filled.subject, body = filled.body
    from unnest(drafts) as filled
    where letter.id = filled.id and letter.state = 'draft' and letter.subject is null
$$;

-- Sets the product's templates to their first texts and removes the organisers' own templates that have no draft. A letter that
-- can still be stopped counts as a draft, since it becomes one then. Drafts keep the texts that they have. `drafts`: the result
-- of `private.filled_drafts` before the applications were locked, so that few are filled in meanwhile.
create function private.reset_templates(drafts private.letters[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.freeze_texts(drafts);
  perform private.freeze_texts(array(select draft from private.filled_drafts() as draft));
  -- A letter that can still be stopped becomes a draft with the text that would have been sent.
  update private.letters as letter set subject = delivery.subject, body = delivery.body
    from private.deliveries as delivery
    where delivery.letter_id = letter.id and private.is_main(delivery) and delivery.state in ('waiting', 'sending', 'failed')
      and letter.state = 'released' and letter.subject is null;
  delete from private.templates as own where name not in (select name from private.first_templates()) and not exists (
    select from private.letters
    where template = own.name and (state = 'draft' or state = 'released' and private.is_undelivered(id))
  );
  update private.templates as former set subject = first.subject, body = first.body, version = former.version + 1
    from private.first_templates() as first
    where first.name = former.name and (first.subject, first.body) is distinct from (former.subject, former.body);
end
$$;

-- Begins the next edition at once: from now on, applications belong to it. `newest` is the number of the newest edition that the
-- organiser saw. `copied` says what the previous edition passes on: {templates, questions, places}, each a boolean. The door
-- stays open or closed, also if a limit closed it, and its count of applications begins at 0. The page no longer says when people
-- hear back, since that day belongs to the previous edition. For an hour, an application that the
-- previous edition already has is not stored again. Repeating the act changes nothing.
create function public.desk_begin_edition(
  act uuid, newest integer, name text, starts_on date, ends_on date, copied jsonb
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  start timestamptz;
  keeps_templates constant boolean := coalesce((copied ->> 'templates')::boolean, false);
  drafts private.letters[];
begin
  name := btrim(coalesce(name, ''), E' \t\r\n');
  if name = '' or char_length(name) > 100 or name ~ '[[:cntrl:]]' then
    raise exception 'A retreat has a name of 1 to 100 characters.' using errcode = '22023';
  elsif jsonb_typeof(copied) is distinct from 'object' then
    raise exception '“copied” has to be an object.' using errcode = '22023';
  end if;
  perform private.check_days(starts_on, ends_on);
  if not private.begin_act(
    act, 'desk_begin_edition', newest::text, name, starts_on::text, ends_on::text, copied::text
  ) then
    return public.desk_places();
  end if;
  if not keeps_templates then
    -- Takes seconds for ten thousands of drafts. Nobody changes a template meanwhile.
    perform from private.templates order by templates.name for no key update;
    begin
      drafts := array(select draft from private.filled_drafts() as draft);
    exception when query_canceled then
      raise exception 'There are too many drafts to keep their texts. Send or drop some, or copy the templates.'
        using errcode = '22023';
    end;
  end if;
  perform private.lock_all_applications();
  select * into former from private.editions order by id desc limit 1 for update;
  if former.id is distinct from newest then
    raise exception 'Somebody else has begun a retreat meanwhile.' using errcode = 'PT409';
  end if;
  start := clock_timestamp();
  insert into private.editions (id, name, began_at, starts_on, ends_on)
    values (former.id + 1, desk_begin_edition.name, start, desk_begin_edition.starts_on, desk_begin_edition.ends_on);
  update private.editions set places = (select places.places from private.places) where id = former.id;
  execute format('alter table public.retreat_applications alter column edition set default %s', former.id + 1);
  update private.door set version = (private.door_state() ->> 'version')::integer + 1,
    closed = closed or coalesce(received >= closes_after, false), received = 0, opened_at = start,
    repeats_until = start + interval '1 hour';
  -- The version changes in any case: an organiser may be editing the number of the former retreat.
  update private.places set version = version + 1;
  if (copied ->> 'places')::boolean is not true then
    update private.places set places = null, days = 10;
  end if;
  if (copied ->> 'questions')::boolean then
    insert into private.questions (edition, position, kind, text, choices, is_required, is_private)
      select former.id + 1, position, kind, text, choices, is_required, is_private
      from private.questions where edition = former.id;
    update private.editions set private_days = former.private_days where id = former.id + 1;
  end if;
  if not keeps_templates then
    perform private.reset_templates(drafts);
  end if;
  -- The page's screen shows the former text.
  insert into private.history (author, kind, detail)
    select me.email, 'page', jsonb_build_object('hear_back', hear_back) from private.page where hear_back <> '';
  update private.page set version = version + 1, hear_back = '' where hear_back <> '';
  insert into private.history (act, author, kind, detail)
    values (desk_begin_edition.act, me.email, 'edition', jsonb_build_object('edition', former.id + 1, 'name', desk_begin_edition.name));
  return public.desk_places();
end
$$;
