-- `letters` are the ids of deliveries.
create function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  return jsonb_build_object('retried', private.retry_letters(letters));
end
$$;
