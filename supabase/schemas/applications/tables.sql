-- Tables of applications: the editions, what applicants sent, and its words for the search.

-- The retreats that people apply to, one after another. New applications belong to the newest.
create table private.editions (
  id integer primary key,
  name text not null default '',
  began_at timestamptz not null,
  -- The first and the last day of the retreat, both null until they are set. The venue, in one line.
  starts_on date,
  ends_on date constraint editions_days
    check ((starts_on is null) = (ends_on is null) and starts_on between '2000-01-01' and ends_on and ends_on < '3000-01-01'),
  venue text not null default '' constraint editions_venue check (char_length(venue) <= 200 and venue !~ '[[:cntrl:]]'),
  -- Counts the changes of name, days and venue. A calendar replaces its event by one with a higher number.
  calendar_sequence integer not null default 0,
  -- Counts the changes of the questions. A change has to name the version that its author saw.
  questions_version integer not null default 0,
  -- The last day on which guests can change their answers; null for the first day of the retreat.
  questions_until date,
  -- How many days after the retreat private answers are erased; null without private questions.
  private_days integer constraint editions_private_days check (private_days between 1 and 365),
  -- For an earlier edition: its number of places. `private.places` has the number of the newest.
  places integer
);
alter table private.editions enable row level security;
insert into private.editions (id, began_at) values (1, '-infinity');

-- An application to attend the retreat: the eleven form answers, when the row was stored, and for which edition.
--
-- Validation is only here. It demands no more than the browser's own checks, so that the database refuses nobody who passed the
-- form. Of a person whom an organiser added, only the first name and the email are required.
create table public.retreat_applications (
  -- Random, not a sequence: the webhook's receiver identifies a delivery by this id. A sequence would restart in a new
  -- database, and the receiver would mistake a new application for an old one.
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),

  -- Required, which only means "not empty": a single space passes the browser's check, so it passes here.
  first_name text not null constraint retreat_applications_first_name_given check (first_name <> ''),
  last_name text not null constraint retreat_applications_last_name_given
    check (last_name <> '' or added_by is not null),
  email text not null constraint retreat_applications_email_given check (email <> ''),
  phone text not null constraint retreat_applications_phone_given
    check (phone <> '' or added_by is not null),
  linkedin text not null constraint retreat_applications_linkedin_given
    check (linkedin <> '' or added_by is not null),
  company text not null constraint retreat_applications_company_given
    check (company <> '' or added_by is not null),

  -- Optional: the form does not require a choice in the two radio groups, so blank is allowed. Blank is always '', never
  -- null: a unique index treats two nulls as different.
  paid_solution text not null default '' constraint retreat_applications_paid_solution_known
    check (paid_solution in ('', 'not', 'screen', 'travel', 'work', 'custom')),
  custom_solution text not null default '',
  team_size text not null default '' constraint retreat_applications_team_size_known
    check (team_size in ('', 'just-me', '1-3', '3-10', '10+')),

  reason text not null constraint retreat_applications_reason_given
    check (reason <> '' or added_by is not null),

  -- No application is stored without the applicant's consent. A person whom an organiser added has given none.
  consent boolean not null constraint retreat_applications_consent_given check (consent = (added_by is null)),

  -- By default the newest edition. The default is a constant, so that inserts read no other table. A foreign key would make all
  -- concurrent inserts lock the same row (docs/decisions/0062).
  edition integer not null default 1,

  -- The email of the organiser who added the person by hand, as text, so that it stays when the account is removed. Null: they
  -- applied themselves.
  added_by text
);

-- An edition stores each application once, so that a repeated request is safe. Two applications are the same if all eleven form
-- answers are, byte for byte. The index has a digest, since its entries hold at most 2,704 bytes. That digest is made of each
-- answer's own digest, since plain concatenation would not distinguish ('ab', 'c') from ('a', 'bc').
create unique index retreat_applications_once on public.retreat_applications (
  edition,
  md5(
    md5(first_name) || md5(last_name) || md5(email) || md5(phone) || md5(linkedin) || md5(company)
    || md5(paid_solution) || md5(custom_solution) || md5(team_size) || md5(reason)
    || case when consent then 't' else 'f' end
  )
);

-- Lets the desk list the newest applications first without sorting, even if there are a million.
create index retreat_applications_newest on public.retreat_applications (created_at desc, id desc);

-- Visitors are anonymous and may only send the eleven form answers. They cannot select, update or delete, or set `id`,
-- `created_at`, `edition` and `added_by`. Hosted projects grant everything on a new table to the API's roles, so these rights are
-- revoked first.
alter table public.retreat_applications enable row level security;
revoke all on table public.retreat_applications from public, anon, authenticated;
grant insert (
  first_name, last_name, email, phone, linkedin, company,
  paid_solution, custom_solution, team_size, reason, consent
) on table public.retreat_applications to anon;
grant select, insert, update, delete on table public.retreat_applications to service_role;

create policy "Anyone may apply" on public.retreat_applications
  for insert to anon with check (true);

-- A search reads the newest applications one by one. Folding and splitting a very long one takes sixty times as long as an
-- ordinary one, so the vectors of long applications are stored.
create table private.search_vectors (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  vector tsvector not null,
  -- For organisers who read blind.
  blind_vector tsvector not null
);
alter table private.search_vectors enable row level security;

-- The link in a receipt, by which its recipient can withdraw the application. It exists for each application that got a receipt.
create table private.withdrawal_links (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  -- 122 random bits, at the end of the link.
  token uuid not null unique default gen_random_uuid()
);
alter table private.withdrawal_links enable row level security;
