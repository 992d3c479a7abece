-- A text filled in for one application, by default the newest; null if there is none.
create function public.desk_preview(
  subject text, body text, application uuid default null, occasion text default null, site text default null
) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_site(site);
  return private.example(occasion, subject, body, application, me.blind, site);
end
$$;
