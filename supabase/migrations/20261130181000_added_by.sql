set local lock_timeout = '1s';

-- A person whom an organiser adds needs only a first name and an email, and has given no consent.
alter table public.retreat_applications
  add column added_by text,
  drop constraint retreat_applications_last_name_given,
  add constraint retreat_applications_last_name_given check (last_name <> '' or added_by is not null) not valid,
  drop constraint retreat_applications_phone_given,
  add constraint retreat_applications_phone_given check (phone <> '' or added_by is not null) not valid,
  drop constraint retreat_applications_linkedin_given,
  add constraint retreat_applications_linkedin_given check (linkedin <> '' or added_by is not null) not valid,
  drop constraint retreat_applications_company_given,
  add constraint retreat_applications_company_given check (company <> '' or added_by is not null) not valid,
  drop constraint retreat_applications_reason_given,
  add constraint retreat_applications_reason_given check (reason <> '' or added_by is not null) not valid,
  drop constraint retreat_applications_consent_given,
  add constraint retreat_applications_consent_given check (consent = (added_by is null)) not valid;

alter table private.history drop constraint history_kind_check,
  add constraint history_kind_check check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address',
    'told', 'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention', 'page', 'returned', 'organiser', 'added')) not valid;
