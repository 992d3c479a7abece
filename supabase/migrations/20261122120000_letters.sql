-- Letters: what organisers write to applicants. Deciding writes to nobody: it leaves a draft,
-- which somebody reads and releases. What is released waits here until it left, so that each letter is sent once.

-- What a letter says, for each occasion: the three decisions, and whatever else organisers name.
create table private.templates (
  occasion text primary key,
  version integer not null default 0,
  subject text not null,
  body text not null
);

insert into private.templates (occasion, subject, body) values
  ('accepted', 'Your place at Unplugged', 'Hello {{first_name}},

we would love to have you with us: your application to Unplugged. is accepted.

Please answer this letter to confirm that you are coming.

The organisers of Unplugged.'),
  ('waitlisted', 'You are on the waitlist of Unplugged', 'Hello {{first_name}},

thank you for your application to Unplugged. All places are taken for now, and you are on our waitlist.

If one becomes free, we write to you at once.

The organisers of Unplugged.'),
  ('declined', 'Your application to Unplugged', 'Hello {{first_name}},

thank you for your application to Unplugged. We are sorry that we cannot offer you a place this time.

We wish you and {{company}} all the best.

The organisers of Unplugged.');

-- One row: what organisers set for all letters.
create table private.letter_settings (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  -- Where answers go; blank: to the sender.
  reply_to text not null default '',
  -- How long a released letter waits, in which it can be stopped.
  hold interval not null default '1 minute'
);
insert into private.letter_settings default values;

-- One row: whoever carries the letters, a server with a mail server to hand them in at.
create table private.postman (
  is_only boolean primary key default true check (is_only),
  -- Organisers let nothing leave.
  stopped boolean not null default false,
  -- When one was last at work.
  seen_at timestamptz not null default '-infinity',
  -- When the next letter may leave, whichever server carries it.
  next_at timestamptz not null default '-infinity',
  -- What keeps all letters, such as a mail server that is not there: since how many tries, and when the next one is.
  failures integer not null default 0,
  paused_until timestamptz not null default '-infinity',
  problem text not null default ''
);
insert into private.postman default values;

-- A letter to an applicant, once for each application, occasion and edition.
create table private.letters (
  id uuid primary key default gen_random_uuid(),
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  occasion text not null,
  -- Higher than 1 where somebody sends again what was sent.
  edition integer not null default 1,
  state text not null check (state in ('draft', 'waiting', 'sending', 'sent', 'refused', 'given up', 'withdrawn')),
  -- Of a draft: what somebody made of it, null where it is as the template has it. Once released: what is sent.
  subject text,
  body text,
  created_at timestamptz not null default now(),
  -- Who released it, and by which act; and the decision that stood, without which it does not leave.
  author text,
  act uuid,
  released_at timestamptz,
  status_version integer,
  -- When it is to be tried; while it is being tried, when another server may take it for lost.
  due_at timestamptz,
  attempts integer not null default 0,
  -- Tries of which nobody knows what they came to: the letter may have arrived.
  uncertain integer not null default 0,
  sent_at timestamptz,
  withdrawn_at timestamptz,
  -- What the mail server said last.
  answer text not null default '',
  check ((state = 'sent') = (sent_at is not null)),
  check (state in ('draft', 'withdrawn') or (subject is not null and body is not null and released_at is not null))
);
create unique index letters_once on private.letters (application_id, occasion, edition) where state <> 'withdrawn';
create index letters_of_application on private.letters (application_id);
create index letters_of_act on private.letters (act);
-- However many were sent, what is still to be done is found at once.
create index letters_drafts on private.letters (occasion, created_at, id) where state = 'draft';
create index letters_due on private.letters (due_at) where state in ('waiting', 'sending');
create index letters_problems on private.letters (state, released_at desc, id) where state in ('refused', 'given up');

alter table private.templates enable row level security;
alter table private.letter_settings enable row level security;
alter table private.postman enable row level security;
alter table private.letters enable row level security;
revoke all on table private.templates, private.letter_settings, private.postman, private.letters
  from public, anon, authenticated;

-- Drafts -----------------------------------------------------------------------------------------------------------

-- Makes the draft of an occasion, unless there is one, or a letter that has left or is to leave. One that was withdrawn
-- before it was released comes back as it was. `again`: also where it was sent before.
create function private.draft(application uuid, occasion text, again boolean default false) returns uuid
  language plpgsql set search_path = ''
as $$
declare
  former record;
  told text;
  made uuid;
begin
  if exists (
    select from private.letters as letter
    where application_id = application and letter.occasion = draft.occasion
      and state not in ('sent', 'withdrawn')
  ) then
    return null;
  end if;
  select max(edition) as edition into former
    from private.letters as letter
    where application_id = application and letter.occasion = draft.occasion and state = 'sent';
  -- What they were told last need not be told again; what they were told before something else has to be.
  select letter.occasion into told
    from private.letters as letter
    where application_id = application and state = 'sent'
      and letter.occasion in ('accepted', 'waitlisted', 'declined')
    order by sent_at desc limit 1;
  if not again and former.edition is not null and (
    told = draft.occasion or draft.occasion not in ('accepted', 'waitlisted', 'declined')
  ) then
    return null;
  end if;
  update private.letters set state = 'draft', withdrawn_at = null, edition = coalesce(former.edition, 0) + 1
    where id = (
      select id from private.letters as letter
      where application_id = application and letter.occasion = draft.occasion
        and state = 'withdrawn' and released_at is null
      order by withdrawn_at desc limit 1
    )
    returning id into made;
  if made is null then
    insert into private.letters (application_id, occasion, edition, state)
      values (application, draft.occasion, coalesce(former.edition, 0) + 1, 'draft')
      on conflict do nothing returning id into made;
  end if;
  return made;
end
$$;

-- Withdraws what has not left of an application, and drafts what stands now. What a server is handing over this moment
-- is marked: if it comes back, it is not tried again.
create function private.redraft() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update private.letters
    set withdrawn_at = now(), due_at = case state when 'sending' then due_at end,
      state = case state when 'sending' then 'sending' else 'withdrawn' end
    where application_id = new.application_id and state not in ('sent', 'withdrawn');
  if new.status in ('accepted', 'waitlisted', 'declined') then
    perform private.draft(new.application_id, new.status);
  end if;
  return null;
end
$$;

-- Whoever changes a status, and however.
create trigger draft_first after insert on private.statuses
  for each row when (new.status in ('accepted', 'waitlisted', 'declined')) execute function private.redraft();
create trigger redraft after update of status on private.statuses
  for each row when (old.status <> new.status) execute function private.redraft();

-- Who was decided on before there were letters waits for one too.
insert into private.letters (application_id, occasion, state)
  select application_id, status, 'draft' from private.statuses
  where status in ('accepted', 'waitlisted', 'declined');

-- Filling in -------------------------------------------------------------------------------------------------------

-- The answers that a letter may quote, by their placeholders, as the applicant read them; hidden from who reads blind.
create function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and name in ('first_name', 'last_name', 'email', 'phone', 'linkedin', 'company') then '(hidden)'
    else btrim(answer, E' \t\r\n') end)
  from (values
    ('first_name', application.first_name), ('last_name', application.last_name), ('email', application.email),
    ('phone', application.phone), ('linkedin', application.linkedin), ('company', application.company),
    ('paid_solution', case application.paid_solution
      when 'not' then 'I have not' when 'screen' then 'Yes, screen time related'
      when 'travel' then 'Yes, travel related' when 'work' then 'Yes, work or team related'
      when 'custom' then 'Custom' else '' end),
    ('custom_solution', application.custom_solution),
    ('team_size', case application.team_size when 'just-me' then 'Just me' else application.team_size end),
    ('reason', application.reason)
  ) as answers (name, answer)
$$;

-- Fills a text in one pass: what an applicant wrote is never read as a placeholder. Says which placeholders there are
-- no answers to (`missing`), and which there are none of (`unknown`), stray braces included.
create function private.fill(given text, answers jsonb, out filled text, out missing text[], out unknown text[])
  language plpgsql immutable set search_path = ''
as $$
declare
  parts text[] := regexp_split_to_array(given, '\{\{[^{}]*\}\}');
  names text[] := array(
    select btrim(match[1]) from regexp_matches(given, '\{\{([^{}]*)\}\}', 'g') with ordinality as each_one (match, place)
    order by place
  );
begin
  filled := parts[1];
  missing := '{}';
  unknown := case
    when given ~ '\{\{\{|\}\}\}' or array_to_string(parts, ' ') ~ '\{\{|\}\}' then array['{{'] else '{}'
  end;
  for place in 1 .. cardinality(names) loop
    if not answers ? names[place] then
      unknown := unknown || left(names[place], 100);
    elsif answers ->> names[place] = '' then
      missing := missing || names[place];
    end if;
    filled := filled || coalesce(answers ->> names[place], '') || parts[place + 1];
  end loop;
  missing := array(select distinct name from unnest(missing) as name order by name);
  unknown := array(select distinct name from unnest(unknown) as name order by name);
end
$$;

-- Subject and body for one application, and a digest of both by which whoever releases it says what they read.
create function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(application, blind);
  head record := private.fill(subject, answers);
  rest record := private.fill(body, answers);
  -- A subject is one line, whatever an applicant wrote.
  line text := btrim(regexp_replace(head.filled, '[[:cntrl:][:space:]\u0085\u2028\u2029]+', ' ', 'g'));
begin
  return jsonb_build_object(
    'subject', line, 'body', rest.filled,
    'missing', (select to_jsonb(array(select distinct unnest(head.missing || rest.missing) order by 1))),
    'unknown', (select to_jsonb(array(select distinct unnest(head.unknown || rest.unknown) order by 1)))
  );
end
$$;

-- A letter as it would be sent, or was.
create function private.letter_text(letter private.letters, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
  template private.templates;
  text jsonb;
begin
  select * into given from public.retreat_applications where id = letter.application_id;
  select * into template from private.templates where occasion = letter.occasion;
  if letter.subject is null then
    text := private.filled(template.subject, template.body, given, blind);
  elsif blind then
    -- What was written to somebody names them.
    text := jsonb_build_object('subject', '(hidden)', 'body', '(hidden)', 'missing', '[]'::jsonb, 'unknown', '[]'::jsonb);
  else
    text := jsonb_build_object('subject', letter.subject, 'body', letter.body,
      'missing', '[]'::jsonb, 'unknown', '[]'::jsonb);
  end if;
  return text || jsonb_build_object('seen', md5(coalesce(letter.subject, template.subject) || E'\n'
    || coalesce(letter.body, template.body)));
end
$$;

-- The functions of the desk --------------------------------------------------------------------------------------

-- Letters as an organiser may see them, in the order of their ids.
create function private.letters_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.letter_text(letter, blind) || jsonb_build_object(
      'id', letter.id, 'application', application.id, 'occasion', letter.occasion, 'edition', letter.edition,
      'state', letter.state, 'is_edited', letter.state = 'draft' and letter.subject is not null,
      'to', case when not blind then application.email end,
      'name', case when not blind then
        btrim(left(application.first_name, 200) || ' ' || left(application.last_name, 200)) end,
      'author', letter.author, 'act', letter.act, 'released_at', letter.released_at, 'due_at', letter.due_at,
      'attempts', letter.attempts, 'uncertain', letter.uncertain, 'sent_at', letter.sent_at,
      'withdrawn_at', letter.withdrawn_at, 'answer', case when blind then '' else letter.answer end
    ) order by place), '[]')
  from unnest(ids) with ordinality as shown (id, place)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

-- A page of fifty of these ids, the last of which says where the next one begins.
create function private.letter_page(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object('letters', private.letters_shown(ids, blind), 'next', (
    select jsonb_build_object('at', coalesce(released_at, created_at), 'id', id)
    from private.letters where cardinality(ids) = 50 and id = ids[50]
  ))
$$;

-- How it stands with the letters: whom a decision waits for, what does not arrive, and whether anybody carries them.
-- Counted up to a thousand, as applications are.
create function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', seen_at > now() - interval '1 minute', 'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{accepted,waitlisted,declined}', occasion), occasion)
        from private.templates as template
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

-- Fifty drafts of one occasion, the oldest first.
create function public.desk_drafts(occasion text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.letter_page(array(
    select id from private.letters as letter
    where letter.occasion = desk_drafts.occasion and state = 'draft' and (created_at, id) > (
      coalesce((after ->> 'at')::timestamptz, '-infinity'),
      coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
    order by created_at, id limit 50
  ), me.blind);
end
$$;

-- Fifty letters that are to leave (`waiting`), or that did not arrive (`refused`, `given up`).
create function public.desk_outbox(state text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_outbox.state = 'waiting' then
    -- Those of one act are due together: the newest act comes first.
    return private.letter_page(array(
      select id from private.letters as letter
      where letter.state in ('waiting', 'sending') and (released_at, id) < (
        coalesce((after ->> 'at')::timestamptz, 'infinity'),
        coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
      order by released_at desc, id desc limit 50
    ), me.blind);
  elsif desk_outbox.state not in ('refused', 'given up') then
    raise exception 'Letters are listed that are waiting, refused or given up.' using errcode = '22023';
  end if;
  return private.letter_page(array(
    select id from private.letters as letter
    where letter.state = desk_outbox.state and (released_at, id) < (
      coalesce((after ->> 'at')::timestamptz, 'infinity'),
      coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
    order by released_at desc, id desc limit 50
  ), me.blind);
end
$$;

-- The letters of some applications, the oldest first; what was withdrawn before it was released is nobody's.
create function public.desk_letters_of(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return private.letters_shown(array(
    select id from private.letters
    where application_id = any (applications) and (state <> 'withdrawn' or released_at is not null)
    order by created_at, id
  ), me.blind);
end
$$;

-- A text filled in for one application; for the newest one where none is named, null where there is none.
create function public.desk_preview(subject text, body text, application uuid default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  given public.retreat_applications;
begin
  if application is null then
    select * into given from public.retreat_applications order by created_at desc, id desc limit 1;
  else
    select * into given from public.retreat_applications where id = application;
  end if;
  if given.id is null then return null; end if;
  return private.filled(subject, body, given, me.blind) || jsonb_build_object('application', given.id,
    'name', case when not me.blind then
      btrim(left(given.first_name, 200) || ' ' || left(given.last_name, 200)) end);
end
$$;

-- Refuses what is no letter.
create function private.check_text(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(btrim(subject), '') = '' or char_length(subject) > 200 or subject ~ '[[:cntrl:]]' then
    raise exception 'A subject is one line of 1 to 200 characters.' using errcode = '22023';
  elsif coalesce(btrim(body, E' \t\r\n'), '') = '' or char_length(body) > 20000 then
    raise exception 'A letter has between 1 and 20,000 characters.' using errcode = '22023';
  end if;
end
$$;

-- Writes down what somebody did to letters in general.
create function private.write_down_letters(author text, detail jsonb) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.history (author, kind, detail)
      values (write_down_letters.author, 'letters', write_down_letters.detail);
  end;
alter table private.history drop constraint history_kind_check;
alter table private.history add constraint history_kind_check
  check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters'));

-- Changes a template, or makes one of a new occasion (version null). Drafts that nobody edited follow it.
create function public.desk_set_template(occasion text, version integer, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  answers jsonb := private.placeholders(null::public.retreat_applications, false);
  unknown text;
  kept private.templates;
begin
  if coalesce(occasion, '') !~ '^[^[:cntrl:]]{1,60}$' or occasion <> btrim(occasion) then
    raise exception 'An occasion has a name of 1 to 60 characters.' using errcode = '22023';
  end if;
  perform private.check_text(subject, body);
  select min(name) into unknown
    from unnest((private.fill(subject, answers)).unknown || (private.fill(body, answers)).unknown) as name;
  if unknown is not null then
    raise exception 'There is no placeholder %.', case unknown when '{{' then 'that begins or ends like this: {{ }}'
      else '{{' || unknown || '}}' end using errcode = '22023';
  end if;
  if version is null then
    insert into private.templates as template (occasion, subject, body)
      values (desk_set_template.occasion, desk_set_template.subject, desk_set_template.body)
      on conflict do nothing returning * into kept;
  else
    update private.templates as template
      set subject = desk_set_template.subject, body = desk_set_template.body, version = template.version + 1
      where template.occasion = desk_set_template.occasion and template.version = desk_set_template.version
      returning * into kept;
  end if;
  if kept.occasion is null then
    -- Sent again, because its answer was lost.
    select * into kept from private.templates as template
      where template.occasion = desk_set_template.occasion
        and template.version = coalesce(desk_set_template.version + 1, 0)
        and template.subject = desk_set_template.subject and template.body = desk_set_template.body;
    if not found then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return to_jsonb(kept);
  end if;
  perform private.write_down_letters(me.email, jsonb_build_object('template', occasion));
  return to_jsonb(kept);
end
$$;

-- Removes a template that is not of a decision, and its drafts.
create function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if occasion in ('accepted', 'waitlisted', 'declined') then
    raise exception 'The template of a decision stays.' using errcode = '22023';
  end if;
  delete from private.templates as template
    where template.occasion = desk_remove_template.occasion and template.version = desk_remove_template.version;
  if not found then
    if exists (select from private.templates as template where template.occasion = desk_remove_template.occasion) then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return jsonb_build_object('removed', false);
  end if;
  update private.letters as letter set state = 'withdrawn', withdrawn_at = now()
    where letter.occasion = desk_remove_template.occasion and state = 'draft';
  perform private.write_down_letters(me.email, jsonb_build_object('removed', occasion));
  return jsonb_build_object('removed', true);
end
$$;

-- Drafts letters of an occasion; `again` also where one was sent. What comes back says of each what became of it:
-- drafted, written (there is a draft or a letter), undecided (another decision stands) or gone.
create function public.desk_write(applications uuid[], occasion text, again boolean default false) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  application uuid;
  standing text;
  outcome text;
  outcomes jsonb := '[]';
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 letters are drafted at once.' using errcode = '22023';
  elsif not exists (select from private.templates as template where template.occasion = desk_write.occasion) then
    raise exception 'There is no template of this name.' using errcode = '22023';
  end if;
  -- In the order in which they are decided.
  for application in select distinct unnest(applications) as id order by id loop
    perform from public.retreat_applications where id = application for no key update;
    outcome := case when not found then 'gone' end;
    if outcome is null then
      select status into standing from private.statuses where application_id = application for share;
      outcome := case
        when occasion in ('accepted', 'waitlisted', 'declined') and occasion is distinct from standing then 'undecided'
        when private.draft(application, occasion, coalesce(again, false)) is null then 'written'
        else 'drafted'
      end;
    end if;
    outcomes := outcomes || jsonb_build_object('application', application, 'outcome', outcome);
  end loop;
  return outcomes;
end
$$;

-- Changes one draft; blank for both makes it as the template has it again. `seen` is what whoever edits read.
create function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
begin
  if me.blind then
    raise exception 'Who reads blind edits no letter.' using errcode = '22023';
  elsif subject <> '' or body <> '' then
    perform private.check_text(subject, body);
  end if;
  select * into draft from private.letters where id = desk_edit.letter and state = 'draft' for update;
  if not found or private.letter_text(draft, false) ->> 'seen' <> seen then
    -- Sent again, because its answer was lost.
    if draft.subject = desk_edit.subject and draft.body = desk_edit.body then
      return private.letters_shown(array[draft.id], false) -> 0;
    end if;
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set subject = nullif(desk_edit.subject, ''), body = nullif(desk_edit.body, '')
    where id = draft.id;
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

-- Takes drafts away. A new decision makes one again.
create function public.desk_discard(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  discarded integer;
begin
  with draft as (
    select id from private.letters where id = any (desk_discard.letters) and state = 'draft' order by application_id, id for update
  )
  update private.letters as letter set state = 'withdrawn', withdrawn_at = now()
    from draft where letter.id = draft.id;
  get diagnostics discarded = row_count;
  return jsonb_build_object('discarded', discarded);
end
$$;

-- Releases drafts, an array of {id, seen}: they leave when a minute is over. More than thirty only by their number,
-- what was sent before only by `again`. What comes back says of each what became of it: released, changed (since it
-- was read), missing (an answer that it quotes is blank), again, or gone. The same act again changes nothing.
create function public.desk_release(
  act uuid, letters jsonb, number integer default null, again boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sent record;
  letter private.letters;
  standing integer;
  text jsonb;
  outcome text;
  outcomes jsonb := '[]';
begin
  if jsonb_array_length(letters) > 1000 then
    raise exception 'At most 1,000 letters are released at once.' using errcode = '22023';
  elsif jsonb_array_length(letters) > 30 and number is distinct from jsonb_array_length(letters) then
    raise exception 'The number does not match: these are % letters.', jsonb_array_length(letters)
      using errcode = '22023';
  elsif not exists (select from private.postman where seen_at > now() - interval '1 minute') then
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  end if;
  -- In the order in which they are decided: whoever decides meanwhile comes first, or withdraws what was released.
  for sent in
    select distinct on (draft.application_id, wanted.id) wanted.id, draft.application_id, wanted.seen
    from jsonb_to_recordset(letters) as wanted (id uuid, seen text) left join private.letters as draft using (id)
    order by draft.application_id, wanted.id
  loop
    -- First, as whoever erases does.
    perform from public.retreat_applications where id = sent.application_id for key share;
    select version into standing from private.statuses where application_id = sent.application_id for share;
    select * into letter from private.letters where id = sent.id for update;
    text := case when letter.id is not null then private.letter_text(letter, me.blind) end;
    outcome := case
      when letter.act = desk_release.act and letter.state in ('waiting', 'sending', 'sent') then 'released'
      when letter.state is distinct from 'draft' then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when letter.edition > 1 and not coalesce(again, false) then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      update private.letters set state = 'waiting', subject = text ->> 'subject', body = text ->> 'body',
        author = me.email, act = desk_release.act, status_version = coalesce(standing, 0),
        released_at = now(), due_at = now() + (select hold from private.letter_settings)
        where id = letter.id;
      outcome := 'released';
    end if;
    outcomes := outcomes || jsonb_build_object('id', sent.id, 'application', sent.application_id, 'outcome', outcome);
  end loop;
  return outcomes;
end
$$;

-- Stops letters, or all of one act: they are drafts again, as they were released. What has left has left.
create function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  letter private.letters;
  draft uuid;
  withdrawn integer := 0;
  left_already integer := 0;
begin
  -- First, as whoever erases does.
  perform from public.retreat_applications where id in (
    select application_id from private.letters as released
    where id = any (desk_withdraw.letters) or released.act = desk_withdraw.act
  ) order by id for key share;
  for letter in
    select * from private.letters as released
    where (id = any (desk_withdraw.letters) or released.act = desk_withdraw.act) and state in ('waiting', 'sending', 'sent')
    order by application_id, id for update
  loop
    if letter.state <> 'waiting' then
      left_already := left_already + 1;
      continue;
    end if;
    update private.letters set state = 'withdrawn', withdrawn_at = now(), due_at = null where id = letter.id;
    draft := private.draft(letter.application_id, letter.occasion, letter.edition > 1);
    update private.letters set subject = letter.subject, body = letter.body where id = draft;
    withdrawn := withdrawn + 1;
  end loop;
  return jsonb_build_object('withdrawn', withdrawn, 'left', left_already);
end
$$;

-- Lets letters leave that were refused or given up, for the decision that stands.
create function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  retried integer;
begin
  with failed as (
    select id from private.letters where id = any (desk_retry.letters) and state in ('refused', 'given up')
    order by application_id, id for update
  )
  update private.letters as letter set state = 'waiting', attempts = 0, due_at = now(), answer = ''
    from failed where letter.id = failed.id;
  get diagnostics retried = row_count;
  return jsonb_build_object('retried', retried);
end
$$;

-- Notes that an organiser sent a draft from their own mail program.
create function public.desk_sent_by_hand(letter uuid, seen text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  text jsonb;
begin
  if me.blind then
    raise exception 'Who reads blind sends no letter by hand.' using errcode = '22023';
  end if;
  select * into draft from private.letters where id = desk_sent_by_hand.letter and state = 'draft' for update;
  text := private.letter_text(draft, false);
  if draft.id is null or text ->> 'seen' <> seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set state = 'sent', subject = text ->> 'subject', body = text ->> 'body', author = me.email,
    released_at = now(), sent_at = now(), answer = 'sent by hand' where id = draft.id;
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

-- Lets nothing leave, or all of it again.
create function public.desk_stop(stopped boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_stop.stopped is null then
    raise exception 'Letters are stopped or not.' using errcode = '22023';
  end if;
  update private.postman set stopped = desk_stop.stopped where postman.stopped <> desk_stop.stopped;
  if found then perform private.write_down_letters(me.email, jsonb_build_object('stopped', desk_stop.stopped)); end if;
  return jsonb_build_object('stopped', desk_stop.stopped);
end
$$;

-- Says where answers go.
create function public.desk_set_letters(version integer, reply_to text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if char_length(reply_to) > 254
    or coalesce(reply_to, '') !~ '^([^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+)?$'
  then
    raise exception 'The address for answers is one e-mail address, or blank.' using errcode = '22023';
  end if;
  update private.letter_settings as settings
    set reply_to = coalesce(desk_set_letters.reply_to, ''), version = settings.version + 1
    where settings.version = desk_set_letters.version;
  if found then
    perform private.write_down_letters(me.email, jsonb_build_object('reply_to', coalesce(reply_to, '')));
  elsif not exists (
    select from private.letter_settings as settings
    where settings.version = desk_set_letters.version + 1 and settings.reply_to = desk_set_letters.reply_to
  ) then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return (select jsonb_build_object('version', settings.version, 'reply_to', settings.reply_to)
    from private.letter_settings as settings);
end
$$;

-- What is private is nobody's. Hosted projects let the API's roles execute every new function of `public`.
revoke all on function
  private.draft(uuid, text, boolean), private.redraft(), private.placeholders(public.retreat_applications, boolean),
  private.fill(text, jsonb), private.filled(text, text, public.retreat_applications, boolean),
  private.letter_text(private.letters, boolean), private.letters_shown(uuid[], boolean),
  private.letter_page(uuid[], boolean), private.check_text(text, text), private.write_down_letters(text, jsonb)
  from public;
revoke all on function
  public.desk_letters(), public.desk_drafts(text, jsonb), public.desk_outbox(text, jsonb),
  public.desk_letters_of(uuid[]), public.desk_preview(text, text, uuid),
  public.desk_set_template(text, integer, text, text), public.desk_remove_template(text, integer),
  public.desk_write(uuid[], text, boolean), public.desk_edit(uuid, text, text, text), public.desk_discard(uuid[]),
  public.desk_release(uuid, jsonb, integer, boolean), public.desk_withdraw(uuid[], uuid), public.desk_retry(uuid[]),
  public.desk_sent_by_hand(uuid, text), public.desk_stop(boolean), public.desk_set_letters(integer, text)
  from public, anon, authenticated;
grant execute on function
  public.desk_letters(), public.desk_drafts(text, jsonb), public.desk_outbox(text, jsonb),
  public.desk_letters_of(uuid[]), public.desk_preview(text, text, uuid),
  public.desk_set_template(text, integer, text, text), public.desk_remove_template(text, integer),
  public.desk_write(uuid[], text, boolean), public.desk_edit(uuid, text, text, text), public.desk_discard(uuid[]),
  public.desk_release(uuid, jsonb, integer, boolean), public.desk_withdraw(uuid[], uuid), public.desk_retry(uuid[]),
  public.desk_sent_by_hand(uuid, text), public.desk_stop(boolean), public.desk_set_letters(integer, text)
  to authenticated;
