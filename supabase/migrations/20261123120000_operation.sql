-- What those who run it, and those who apply, are told in time.

-- The door ---------------------------------------------------------------------------------------------------------

-- {"is_open": true}, or {"is_open": false, "sentence": what whoever applies now is told}. Nothing else of the door is a
-- visitor's to know.
create function public.door_is_open() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  state jsonb := private.door_state();
begin
  if (state ->> 'is_open')::boolean then
    return '{"is_open": true}';
  end if;
  return jsonb_build_object(
    'is_open', false, 'sentence', coalesce(nullif(left(state ->> 'sentence', 300), ''), 'Applications are closed.')
  );
end
$$;

revoke all on function public.door_is_open() from public, anon, authenticated;
grant execute on function public.door_is_open() to anon, authenticated;

-- Deliveries -------------------------------------------------------------------------------------------------------

alter table private.webhook_outbox
  -- When there was something to deliver. The application's own moment is in no index of those that wait.
  add column queued_at timestamptz not null default now(),
  -- The beginning of what the receiver said last, or what went wrong. It goes when the application goes.
  add column last_answer text not null default '';

update private.webhook_outbox set queued_at = created_at
from public.retreat_applications where id = application_id and delivered_at is null;

-- However many were delivered, what waits, and what was given up, is found at once.
create index webhook_outbox_waiting on private.webhook_outbox (queued_at) where next_attempt_at is not null;
create index webhook_outbox_given_up on private.webhook_outbox (queued_at)
  where next_attempt_at is null and delivered_at is null;
