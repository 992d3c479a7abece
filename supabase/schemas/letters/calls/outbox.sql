-- Up to fifty letters that are pending (`waiting`), or that could not be delivered (`refused`, `given up`), the newest first.
-- Letters that were released together follow each other. `retriable` has the ids of those that `desk_retry` can send again, up to
-- the thousand that it takes; only with the first fifty.
create function public.desk_outbox(state text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  before timestamptz := coalesce((after ->> 'at')::timestamptz, 'infinity');
  before_id uuid := coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
  ids uuid[];
  retriable uuid[] := array[]::uuid[];
begin
  if desk_outbox.state = 'waiting' then
    ids := array(
      select id from private.deliveries as delivery
      where kind in ('letter', 'decision', 'receipt') and delivery.state in ('waiting', 'sending')
        and (queued_at, id) < (before, before_id)
      order by queued_at desc, id desc limit 50
    );
  elsif desk_outbox.state in ('refused', 'given up') then
    ids := array(
      select id from private.deliveries as delivery
      where kind in ('letter', 'decision', 'receipt') and delivery.state = 'failed'
        and is_refused = (desk_outbox.state = 'refused') and (queued_at, id) < (before, before_id)
      order by queued_at desc, id desc limit 50
    );
    if after is null then
      retriable := array(
        select id from private.deliveries as delivery
        where kind in ('letter', 'decision', 'receipt') and delivery.state = 'failed'
          and is_refused = (desk_outbox.state = 'refused') and private.can_retry(delivery)
        order by queued_at desc, id desc limit 1000
      );
    end if;
  else
    raise exception 'The state must be waiting, refused or given up.' using errcode = '22023';
  end if;
  return jsonb_build_object('letters', private.letter_deliveries_shown(ids, me.blind), 'overview', private.letters_overview(me.blind),
    'retriable', to_jsonb(retriable), 'next', (
    select jsonb_build_object('at', queued_at, 'id', id) from private.deliveries where id = ids[50]
  ));
end
$$;
