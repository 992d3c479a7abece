-- Puts a hold on an application, with a reason: the retention does not erase it. A blank reason ends the hold. Then the
-- announcements of its edition begin again, so that it is not erased at once.
create function public.desk_hold(act uuid, application uuid, reason text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  reason := btrim(coalesce(reason, ''), E' \t\r\n');
  if char_length(reason) > 500 then
    raise exception 'A reason has at most 500 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_hold', application::text, reason) then
    -- Before the application, which `write_down` locks, as in the order of locks.
    if reason = '' then perform private.end_announcements(private.edition_of(application), 'applications'); end if;
    perform private.write_down(application, act, me.email, 'hold', jsonb_build_object('reason', nullif(reason, '')));
    if reason = '' then
      delete from private.holds where application_id = application;
    else
      insert into private.holds (application_id, reason, held_by) values (application, desk_hold.reason, me.email)
        on conflict (application_id) do update
          set (reason, held_by, held_at) = (excluded.reason, excluded.held_by, excluded.held_at);
    end if;
  end if;
  return private.application_details(application, me.blind);
end
$$;
