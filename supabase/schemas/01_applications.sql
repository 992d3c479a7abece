-- Applications: what applicants send, and what guards it.

-- The schema of what is ours alone, beside `public`, which the API exposes. 24_rights.sql says who may do what.
create schema if not exists private;

-- The retreats to which people apply, one after another. New applications belong to the newest.
create table private.editions (
  id integer primary key,
  name text not null default '',
  began_at timestamptz not null
);
alter table private.editions enable row level security;
insert into private.editions (id, began_at) values (1, '-infinity');

-- An application to attend the retreat: the eleven form answers, when which row was stored, and for which edition.
--
-- Validation lives here and nowhere else. It asks for no more than the browser's own checks do, so that
-- nobody who got past the form is turned away by the database.
create table public.retreat_applications (
  -- Random, not counted: the webhook's receiver knows a delivery by it, and a count would start anew with
  -- a new database and make the receiver take a new application for an old one.
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),

  -- Required. Exactly "not empty": a single space passes the browser's check, so it passes here.
  first_name text not null constraint retreat_applications_first_name_given check (first_name <> ''),
  last_name text not null constraint retreat_applications_last_name_given check (last_name <> ''),
  email text not null constraint retreat_applications_email_given check (email <> ''),
  phone text not null constraint retreat_applications_phone_given check (phone <> ''),
  linkedin text not null constraint retreat_applications_linkedin_given check (linkedin <> ''),
  company text not null constraint retreat_applications_company_given check (company <> ''),

  -- Optional: nothing enforces the two radio groups, so blank is an answer. Blank is always '', never null:
  -- one way to say "no answer", and a unique index takes two nulls for different.
  paid_solution text not null default '' constraint retreat_applications_paid_solution_known
    check (paid_solution in ('', 'not', 'screen', 'travel', 'work', 'custom')),
  custom_solution text not null default '',
  team_size text not null default '' constraint retreat_applications_team_size_known
    check (team_size in ('', 'just-me', '1-3', '3-10', '10+')),

  reason text not null constraint retreat_applications_reason_given check (reason <> ''),

  -- Nobody's application is kept without their consent.
  consent boolean not null constraint retreat_applications_consent_given check (consent),

  -- The newest edition, which is a constant so that inserts read no other table. No foreign key: all inserts at the same time
  -- would lock the same row (docs/decisions/0062).
  edition integer not null default 1
);

-- One copy of one application in an edition, so that a send may be repeated safely: a digest of all eleven answers, byte
-- for byte. A digest, because an index entry holds at most 2,704 bytes; of digests of equal length, because
-- a plain join would take ('ab', 'c') for ('a', 'bc').
create unique index retreat_applications_once on public.retreat_applications (
  edition,
  md5(
    md5(first_name) || md5(last_name) || md5(email) || md5(phone) || md5(linkedin) || md5(company)
    || md5(paid_solution) || md5(custom_solution) || md5(team_size) || md5(reason)
    || case when consent then 't' else 'f' end
  )
);

-- The organiser reads the newest first, also of a million, without sorting them each time.
create index retreat_applications_newest on public.retreat_applications (created_at desc, id desc);

-- Tells people apart by their e-mail: who applied twice, and whose applications are erased together. A digest, because an
-- index entry holds at most 2,704 bytes. Receipts tell people apart by mailbox, which puts more addresses together.
create function private.person(email text) returns text
  language sql immutable parallel safe
  return md5(lower(btrim(email)));
create index retreat_applications_person on public.retreat_applications (private.person(email));

-- Visitors are anonymous and may do one thing: hand in the eleven answers. No select, update or delete; not
-- even `id`, `created_at` and `edition` are theirs to set. Hosted projects grant everything on a new table to the API's
-- roles, so that is taken back first.
alter table public.retreat_applications enable row level security;
revoke all on table public.retreat_applications from public, anon, authenticated;
grant insert (
  first_name, last_name, email, phone, linkedin, company,
  paid_solution, custom_solution, team_size, reason, consent
) on table public.retreat_applications to anon;
grant select, insert, update, delete on table public.retreat_applications to service_role;

create policy "Anyone may apply" on public.retreat_applications
  for insert to anon with check (true);

-- A limit against abuse alone, far beyond what anybody writes. A trigger and no constraint, so that older rows stay, also in a
-- restored backup, and so that an applicant reads a sentence.
create function private.refuse_too_long() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  answer record;
begin
  for answer in
    select key as name, value as said, case when key in ('custom_solution', 'reason') then 100000 else 10000 end as most
    from jsonb_each_text(to_jsonb(new))
  loop
    if char_length(answer.said) > answer.most then
      raise exception 'The answer "%" is too long: it may have up to % characters.',
        answer.name, ltrim(to_char(answer.most, '999,999')) using errcode = '23514', column = answer.name;
    end if;
  end loop;
  return new;
end
$$;

create trigger refuse_too_long before insert or update on public.retreat_applications for each row
  -- A condition is prepared again for each statement: a short one, of the whole, takes next to nothing. No answer is
  -- longer than the whole, which nothing has compressed yet.
  when (pg_column_size(new) > 10000)
  execute function private.refuse_too_long();
