-- Stops letters, given by their own ids or by the ids of their deliveries, or all letters of one act. Waiting deliveries are
-- cancelled, and their letters become drafts. A delivery that is being sent is recalled. If it is not accepted, `record_delivery`
-- cancels it, and its letter is drafted again. The result counts the applications: `withdrawn`, and `left` if their letter is
-- being sent or was sent.
create function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[];
  stopped uuid[];
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters || array(select id from private.deliveries where deliveries.act = desk_withdraw.act));
  -- Read after locking. For a letter's id, its latest delivery.
  wanted := array(
    select id from private.deliveries
    where id = any (desk_withdraw.letters) and kind in ('letter', 'decision', 'receipt')
      or deliveries.act = desk_withdraw.act and not is_beside
    union
    select newest.id
    from unnest(desk_withdraw.letters) as letter (id) cross join lateral (
      select id from private.deliveries as delivery
      where letter_id = letter.id and private.is_main(delivery) order by queued_at desc, id limit 1
    ) as newest
  );
  stopped := array(
    select id from private.deliveries where id = any (wanted) and state in ('waiting', 'sending') and recalled_at is null
  );
  perform private.recall(stopped, me.email);
  perform private.settle_letter(delivery) from private.deliveries as delivery
    where id = any (stopped) and state = 'cancelled' and private.is_main(delivery);
  return (
    select jsonb_build_object(
      'withdrawn', count(*) filter (where is_stopped and not has_left), 'left', count(*) filter (where has_left))
    from (
      select bool_or(state = 'cancelled' and recalled_by is not null) as is_stopped,
        bool_or(state in ('sending', 'done')) as has_left
      from private.deliveries where id = any (wanted) group by application_id
    ) as of_application
  );
end
$$;
