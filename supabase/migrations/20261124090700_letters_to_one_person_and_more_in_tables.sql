-- The first one behind a position. Where few fit, a tenth of a second is looked for it; then there is none.
create function private.find_one(filter jsonb, after jsonb, blind boolean) returns uuid
  language plpgsql stable set search_path = ''
as $$
declare
  part record;
  ends timestamptz := clock_timestamp() + interval '0.1 seconds';
begin
  loop
    part := private.find(filter, after, 1, 1000, blind);
    if cardinality(part.ids) = 1 or part.next is null or clock_timestamp() > ends then
      return part.ids[1];
    end if;
    after := part.next;
  end loop;
end
$$;

revoke all on function private.find_one(jsonb, jsonb, boolean) from public, anon, authenticated;

-- The place of an application in the list of a filter: its `number` there, null where it is not among the first; how many
-- there are, up to a thousand, and fewer where few fit: two thousand are looked at; and which stand before and after it,
-- also where the filter does not let it through, as it does not any more who was decided on.
create or replace function private.place(application uuid, filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  list record := private.find(filter, null, 1000, 2000, blind);
  number integer := array_position(list.ids, application);
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  here record;
  stopped record;
  before integer := number - 1;
  previous uuid;
  next uuid;
begin
  select created_at, id into here from public.retreat_applications where id = application;
  select (list.next ->> 'created_at')::timestamptz as created_at, (list.next ->> 'id')::uuid as id into stopped;
  if number is null and list.next is not null and (
    case when is_oldest_first then here > stopped else here < stopped end
  ) then
    previous := private.find_one(filter || jsonb_build_object(
      'order', case when is_oldest_first then 'newest' else 'oldest' end), to_jsonb(here), blind);
    next := private.find_one(filter, to_jsonb(here), blind);
  else
    if number is null then
      select count(*) into before from public.retreat_applications as other
        where other.id = any (list.ids) and case
          when is_oldest_first then (other.created_at, other.id) < (here.created_at, here.id)
          else (other.created_at, other.id) > (here.created_at, here.id)
        end;
    end if;
    previous := list.ids[before];
    next := list.ids[coalesce(number, before) + 1];
    if next is null and list.next is not null then
      next := private.find_one(filter, list.next, blind);
    end if;
  end if;
  return jsonb_build_object('number', number, 'count', cardinality(list.ids), 'more', list.next is not null,
    'previous', previous, 'next', next);
end
$$;

-- What became of a list that is on a screen. `shown` are its rows, {id, version}, the first thousand of them; `oldest` is
-- where it ends, null where it was read to its end. What comes back: the rows whose status changed, those that are gone,
-- what became of the letters of all, and how many the filter lets through that are not shown: `newer` than all rows, or
-- between them (`older`). `more`: there may be more of these. Which they are (`unseen`) is for desks that were opened
-- before an update.
create or replace function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- What comes in while a list stands that was read to its end is the newest in either order.
  found record := private.find(
    case when oldest is null then filter - 'order' else filter end, null, 1000, 1000, me.blind);
  last record;
  stopped record;
begin
  if jsonb_array_length(shown) > 1000 then
    raise exception 'At most 1,000 applications are looked at again at once.' using errcode = '22023';
  end if;
  select (oldest ->> 'created_at')::timestamptz as created_at, (oldest ->> 'id')::uuid as id into last;
  select (found.next ->> 'created_at')::timestamptz as created_at, (found.next ->> 'id')::uuid as id into stopped;
  return (
    with of_list as materialized (
      select id, version from jsonb_to_recordset(shown) as of_list (id uuid, version integer)
    ), unseen as materialized (
      select id, created_at from public.retreat_applications
      where id = any (found.ids) and id not in (select id from of_list) and (oldest is null or case
        when is_oldest_first then (created_at, id) <= (last.created_at, last.id)
        else (created_at, id) >= (last.created_at, last.id)
      end)
    ), newest as materialized (
      select application.created_at, id from of_list join public.retreat_applications as application using (id)
      order by 1 desc, 2 desc limit 1
    )
    select jsonb_build_object(
      'changed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'status', standing.status, 'version', standing.version)), '[]')
        from of_list join private.statuses as standing on application_id = id
        where standing.version <> of_list.version
      ),
      'gone', (
        select coalesce(jsonb_agg(id), '[]') from of_list
        where not exists (select from public.retreat_applications as application where application.id = of_list.id)
      ),
      'letters', private.letter_states(array(select id from of_list)),
      'newer', (
        select count(*) from unseen where not exists (
          select from newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
        )
      ),
      'older', (
        select count(*) from unseen, newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
      ),
      'unseen', (select coalesce(jsonb_agg(to_jsonb(unseen) order by created_at desc, id desc), '[]') from unseen),
      'more', found.next is not null and (oldest is null or case
        when is_oldest_first then stopped < last else stopped > last end)
    )
  );
end
$$;

-- Up to a thousand of those that a filter lets through, as whoever acts on all of them has to know them, and where to go
-- on.
create function public.desk_select(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind);
begin
  return jsonb_build_object('next', found.next, 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'status', coalesce(standing.status, 'new'), 'version', coalesce(standing.version, 0))
        || case when me.blind then '{}' else jsonb_build_object(
          'first_name', left(first_name, 200), 'last_name', left(last_name, 200)) end
      order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      left join private.statuses as standing on application_id = id
  ));
end
$$;

revoke all on function public.desk_select(jsonb, jsonb) from public, anon, authenticated;
grant execute on function public.desk_select(jsonb, jsonb) to authenticated;

-- What organisers made of some applications, for a table: who decided last and when, the notes, and what became of the
-- letters. It names no address and quotes no letter, so that who reads blind may read it.
create function private.made_of(applications uuid[]) returns table (application_id uuid, made jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    with happened as (
      select history.application_id as id,
        (array_agg(author order by history.id desc) filter (where kind = 'status'))[1] as author,
        max(at) filter (where kind = 'status') as decided_at,
        jsonb_agg(jsonb_build_object('at', at, 'author', author, 'note', detail ->> 'note') order by history.id)
          filter (where kind = 'note') as notes
      from private.history
      where history.application_id = any (applications) and kind in ('status', 'note') group by 1
    ), written as (
      select letter.application_id as id, jsonb_agg(jsonb_build_object(
        'occasion', occasion, 'way', way, 'state', state, 'otherwise', otherwise,
        'at', coalesce(sent_at, released_at)) order by letter.created_at, letter.id) as letters
      from private.letters as letter
      where letter.application_id = any (applications) and state not in ('draft', 'withdrawn') group by 1
    )
    select each_one, jsonb_build_object('decided_by', author, 'decided_at', decided_at,
      'notes', coalesce(notes, '[]'), 'letters', coalesce(letters, '[]'))
    from unnest(applications) as each_one
      left join happened on happened.id = each_one
      left join written on written.id = each_one;
end
$$;

revoke all on function private.made_of(uuid[]) from public, anon, authenticated;

-- Up to a thousand whole applications with what organisers made of them, fewer where they are long, and where to go on.
create or replace function public.desk_export(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind);
  fitting integer;
begin
  -- Up to 16 MB and what passes them: no array is longer than 256, and nobody waits for that long.
  select count(*) into fitting from (
    select coalesce(sum(
      octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(phone)
      + octet_length(linkedin) + octet_length(company) + octet_length(custom_solution) + octet_length(reason)
      + (
        select coalesce(sum(octet_length(detail ->> 'note')), 0)
        from private.history where application_id = application.id and kind = 'note'
      )
    ) over (order by place rows between unbounded preceding and 1 preceding), 0) as former
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
  ) as sized where former < 16000000;
  if fitting < cardinality(found.ids) then
    found.ids := found.ids[:fitting];
    select jsonb_build_object('created_at', created_at, 'id', id) into found.next
      from public.retreat_applications where id = found.ids[fitting];
  end if;
  return jsonb_build_object('next', found.next, 'applications', (
    select coalesce(jsonb_agg(private.shown(application, me.blind) || made order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      join private.made_of(found.ids) on application_id = id
  ));
end
$$;

-- Makes the draft of a letter to one person, which no template says. Whoever calls has locked the application.
create function private.draft_text(application uuid, subject text, body text, id uuid default gen_random_uuid())
  returns void
  language sql set search_path = ''
  begin atomic
    insert into private.letters (id, application_id, occasion, edition, state, subject, body)
      select draft_text.id, application, '', coalesce(max(edition), 0) + 1, 'draft', draft_text.subject, draft_text.body
      from private.letters where application_id = application and occasion = ''
      on conflict do nothing;
  end;

revoke all on function private.draft_text(uuid, text, text, uuid) from public, anon, authenticated;

-- Withdraws what has not left of an application, and drafts what stands now. What a server is handing over this moment
-- is marked: if it comes back, it is not tried again. A receipt says nothing of decisions, and leaves. What somebody wrote
-- to one person is a draft again, or stays one.
create or replace function private.redraft() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  letter private.letters;
begin
  for letter in select * from private.move(array(
    select id from private.letters
    where application_id = new.application_id and state not in ('sending', 'sent', 'withdrawn')
      and occasion <> 'received' and (occasion <> '' or state <> 'draft') for update
  ), 'withdrawn') loop
    if letter.occasion = '' then
      perform private.draft_text(letter.application_id, letter.subject, letter.body);
    end if;
  end loop;
  -- Behind that: what a server takes meanwhile is seen here.
  update private.letters set withdrawn_at = now()
    where application_id = new.application_id and state = 'sending' and occasion <> 'received';
  if private.is_decision(new.status) then
    perform private.draft(new.application_id, new.status);
  end if;
  return null;
end
$$;

-- How it stands with the letters: whom a decision waits for, what does not arrive, and whether anybody carries them.
-- Counted up to a thousand, as applications are.
create or replace function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', seen_at > now() - interval '1 minute',
        'is_automation_there', automation_seen_at > now() - interval '1 minute', 'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined}', occasion), occasion)
        from private.templates as template
      ),
      -- Drafts that somebody wrote to one person.
      'personal', (
        select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
        from (select from private.letters where state = 'draft' and occasion = '' limit 1001) as counted
      ),
      -- What was released and can still be stopped, by its act.
      'leaving', (
        select coalesce(jsonb_agg(to_jsonb(leaving) order by seconds), '[]')
        from (
          select act, count(distinct application_id), ceil(extract(epoch from max(due_at) - now()))::integer as seconds
          from private.letters
          where way in ('mail', 'automation') and state = 'waiting' and due_at > now() and attempts = 0
            and act is not null
          group by act
        ) as leaving
      ),
      'states', (
        select jsonb_object_agg(name, jsonb_build_object('count', least(count, 1000), 'more', count > 1000))
        from (values
          ('waiting', (select count(*) from (
            select from private.letters where state in ('waiting', 'sending') limit 1001) as counted)),
          ('refused', (select count(*) from (
            select from private.letters where state = 'refused' limit 1001) as counted)),
          ('given up', (select count(*) from (
            select from private.letters where state = 'given up' limit 1001) as counted))
        ) as counts (name, count)
      )
    )
    from private.postman
  );
end
$$;

-- Refuses what is no letter to one person.
create function private.check_letter(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  perform private.check_text(subject, body);
  -- It is sent as it stands.
  if (subject || body) ~ '\{\{|\}\}' then
    raise exception 'In a letter to one person there are no placeholders: write what is to stand there.'
      using errcode = '22023';
  end if;
end
$$;

revoke all on function private.check_letter(text, text) from public, anon, authenticated;

-- Drafts a letter to one person that no template says. The same act again drafts none.
create function public.desk_write_to(act uuid, application uuid, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    raise exception 'Who reads blind writes to nobody.' using errcode = '22023';
  elsif act is null then
    raise exception 'An act has an id.' using errcode = '22023';
  end if;
  perform private.check_letter(subject, body);
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  perform private.draft_text(application, subject, body, act);
  perform from private.letters where id = desk_write_to.act and application_id = application and occasion = '';
  if not found then
    raise exception 'This was something else before: nothing was written.' using errcode = 'PT409';
  end if;
  return private.letters_shown(array[act], false) -> 0;
end
$$;

revoke all on function public.desk_write_to(uuid, uuid, text, text) from public, anon, authenticated;
grant execute on function public.desk_write_to(uuid, uuid, text, text) to authenticated;

-- Changes one draft; blank for both makes it as its template has it again, if it has one. `seen` is what whoever edits read.
create or replace function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
begin
  if me.blind then
    raise exception 'Who reads blind edits no letter.' using errcode = '22023';
  elsif subject <> '' or body <> '' or exists (
    select from private.letters where id = desk_edit.letter and occasion = ''
  ) then
    perform private.check_letter(subject, body);
  end if;
  perform private.lock_letters(array[desk_edit.letter]);
  select * into draft from private.letters where id = desk_edit.letter and state = 'draft';
  if not found or private.letter_text(draft, false) ->> 'seen' <> seen then
    -- Sent again, because its answer was lost.
    if coalesce(draft.subject, '') = desk_edit.subject and coalesce(draft.body, '') = desk_edit.body then
      return private.letters_shown(array[draft.id], false) -> 0;
    end if;
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set subject = nullif(desk_edit.subject, ''), body = nullif(desk_edit.body, ''),
    version = version + 1
    where id = draft.id;
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

-- Releases drafts, an array of {id, seen}: they leave when a minute is over. More than thirty only by their number,
-- what was sent before only by `again`. What comes back says of each what became of it: released, changed (since it
-- was read), missing (an answer that it quotes is blank), long (filled in it is longer than a letter may be), again, or
-- gone. The same act again changes nothing.
create or replace function public.desk_release(
  act uuid, letters jsonb, number integer default null, again boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sent record;
  letter private.letters;
  standing record;
  text jsonb;
  outcome text;
  outcomes jsonb := jsonb_build_array();
  is_postman_there boolean;
  is_automation_there boolean;
begin
  select seen_at > now() - interval '1 minute', automation_seen_at > now() - interval '1 minute'
    into is_postman_there, is_automation_there from private.postman;
  if jsonb_array_length(letters) > 1000 then
    raise exception 'At most 1,000 letters are released at once.' using errcode = '22023';
  elsif jsonb_array_length(letters) > 30 and number is distinct from jsonb_array_length(letters) then
    raise exception 'The number does not match: these are % letters.', jsonb_array_length(letters)
      using errcode = '22023';
  elsif not (is_postman_there or is_automation_there) then
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  elsif not is_postman_there and exists (
    select from private.letters as draft
    where id in (select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one)
      and not private.is_decision(draft.occasion)
  ) then
    raise exception 'Only decisions are told to the automation, and no server with a mail server is at work.'
      using errcode = 'PT409';
  end if;
  -- Whoever decides meanwhile comes first, or withdraws what was released.
  perform private.lock_letters(array(select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one));
  for sent in
    select distinct on (draft.application_id, wanted.id) wanted.id, draft.application_id, wanted.seen
    from jsonb_to_recordset(letters) as wanted (id uuid, seen text) left join private.letters as draft using (id)
    order by draft.application_id, wanted.id
  loop
    select version, status into standing from private.statuses where application_id = sent.application_id;
    select * into letter from private.letters where id = sent.id;
    text := case when letter.id is not null then private.letter_text(letter, me.blind) end;
    outcome := case
      when letter.act = desk_release.act and letter.state in ('waiting', 'sending', 'sent') then 'released'
      when letter.state is distinct from 'draft' then 'gone'
      when private.is_decision(letter.occasion) and letter.occasion is distinct from standing.status then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when letter.edition > 1 and letter.occasion <> '' and not coalesce(again, false) then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      update private.letters set subject = text ->> 'subject', body = text ->> 'body',
        from_template = letter.subject is null, way = case when is_postman_there then 'mail' else 'automation' end,
        author = me.email, act = desk_release.act, status_version = coalesce(standing.version, 0), released_at = now()
        where id = letter.id;
      perform private.move(array[letter.id], 'waiting', due => now() + (select hold from private.letter_settings));
      if is_postman_there and is_automation_there and private.is_decision(letter.occasion) then
        insert into private.letters (application_id, occasion, edition, way, state, subject, body, author, act,
            status_version, released_at, due_at)
          select application_id, released.occasion, edition, 'automation', state, subject, body, author, released.act,
            status_version, released_at, due_at
          from private.letters as released where id = letter.id
          on conflict do nothing;
      end if;
      perform private.withdraw_receipt(letter.application_id);
      outcome := 'released';
    end if;
    outcomes := outcomes || jsonb_build_object('id', sent.id, 'application', sent.application_id, 'outcome', outcome);
  end loop;
  return outcomes;
end
$$;

-- Stops letters, or all of one act: they are drafts again, and no automation is told any more. What somebody wrote to
-- one person stays as it is; the others follow their template. What has left has left. What comes back counts letters
-- that somebody stopped.
create or replace function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[] := array(
    select distinct released.id
    from private.letters as given join private.letters as released
      on released.id = given.id or (released.act = given.act and released.application_id = given.application_id)
    where given.id = any (desk_withdraw.letters) or given.act = desk_withdraw.act
  );
  letter private.letters;
  draft uuid;
begin
  perform private.check_number(letters);
  perform private.lock_letters(wanted);
  for letter in
    select * from private.letters where id = any (wanted) and state = 'waiting' order by application_id, id
  loop
    perform private.move(array[letter.id], 'withdrawn', author => me.email);
    if letter.occasion = '' then
      perform private.draft_text(letter.application_id, letter.subject, letter.body);
    -- There is none where the template was removed meanwhile.
    elsif exists (
      select from private.templates where occasion = letter.occasion and occasion <> 'received'
    ) then
      draft := private.draft(letter.application_id, letter.occasion, letter.edition > 1);
      update private.letters set version = version + 1,
          subject = case when not letter.from_template then letter.subject end,
          body = case when not letter.from_template then letter.body end
        where id = draft;
    end if;
  end loop;
  return (
    select jsonb_build_object(
      'withdrawn', count(*) filter (where is_stopped and not has_left), 'left', count(*) filter (where has_left))
    from (
      select bool_or(withdrawn_by is not null) as is_stopped, bool_or(state in ('sending', 'sent')) as has_left
      from private.letters as released
      where id = any (wanted) and released_at is not null and private.is_to_applicant(released)
      group by application_id
    ) as of_application
  );
end
$$;

drop function private.find_on(jsonb, jsonb, integer, boolean);
