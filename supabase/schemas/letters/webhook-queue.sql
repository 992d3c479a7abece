-- The queue of the webhook.

-- Claims due deliveries to a webhook, the longest waiting first, each for one server and the duration of the lease. Deliveries
-- about one person stay in order. A delivery also counts as due if its `due_at` is further ahead than that of any retry: the
-- clock must have been set back. If organisers stopped all letters, decisions wait, too.
create function private.claim_delivery(kind text, most integer, lease interval) returns setof private.deliveries
  language plpgsql set search_path = ''
as $$
declare
  moments record;
begin
  if kind = 'decision' and (select stopped from private.postman) then return; end if;
  for moments in select * from private.due_moments() loop
    return query
      with due as (
        select id from private.deliveries as delivery
        where delivery.kind = claim_delivery.kind and due_at >= moments.since and due_at <= moments.until
          and recalled_at is null
          -- The `or` keeps `not exists` from becoming a join, for which PostgreSQL may read all deliveries.
          and (delivery.kind = 'application' or not exists (
            select from private.deliveries as earlier
            where earlier.application_id = delivery.application_id and earlier.kind = delivery.kind
              and private.is_before(earlier, delivery) and earlier.state in ('waiting', 'sending')
          ))
        order by due_at limit most for update skip locked
      )
      select claimed.* from due, private.claim_one(due.id, lease) as claimed;
    exit when found;
  end loop;
end
$$;
