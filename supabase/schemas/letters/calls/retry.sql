-- `letters` are the ids of deliveries.
create function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  if not private.is_postman_there() and exists (
    select from private.deliveries where id = any (letters) and kind in ('letter', 'receipt') and state = 'failed'
  ) then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  end if;
  return jsonb_build_object('retried', private.retry_letters(letters));
end
$$;
