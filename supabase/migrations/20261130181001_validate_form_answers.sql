-- Checks the form answers of all applications, while people apply.
alter table public.retreat_applications validate constraint retreat_applications_last_name_given,
  validate constraint retreat_applications_phone_given,
  validate constraint retreat_applications_linkedin_given,
  validate constraint retreat_applications_company_given,
  validate constraint retreat_applications_reason_given,
  validate constraint retreat_applications_consent_given;
