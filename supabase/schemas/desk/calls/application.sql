-- One application with everything that is known about it, its letters, and the state of all letters. Readers get no private
-- answers, no drafts, no texts of letters, and no state of all letters, which has the templates. `me`: the caller as an author.
-- `notes_seen_until`: the time up to which they have seen its notes. `failed_at`: when a letter to the applicant's address last
-- failed. `place` is its position in the list of a filter, null without a filter. The name `place` stays for desks that were
-- opened before an update.
create function public.desk_application(application uuid, filter jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  shown integer := (select edition from public.retreat_applications where id = application);
begin
  return private.application_details(application, me.blind, hides_private => me.is_reader) || case when me.is_reader
    then jsonb_build_object('letters', private.sent_letters_of(array[application], true))
    else jsonb_build_object(
      'letters', private.letters_of(array[application], me.blind), 'overview', private.letters_overview(me.blind),
      'failed_at', case when not me.blind then (
        select private.last_failure(private.address_of(id, email)) from public.retreat_applications where id = application
      ) end) end
  || jsonb_build_object(
    'notes_seen_until', private.notes_seen_until(application, me.id),
    'me', private.author_shown(me.email, me.id),
    'marks', private.marks_shown(application, me.id),
    'is_marking', private.is_marked(shown),
    'acceptances', private.acceptances(shown),
    'stamp', private.stamp(application, me.id),
    'place', case when filter is not null then private.list_position(application, filter, me.blind, me.id) end
  );
end
$$;
