-- Requests a check of the mail server and the sender's domain; `desk_letters` has its findings. Within ten seconds of a request,
-- another request starts no further check.
create function public.desk_check_mail() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  -- Later times are from before the clock was set back.
  update private.postman set check_wanted_at = now(), check_begun_at = least(check_begun_at, now() - interval '1 second'),
      checked_at = least(checked_at, now() - interval '1 second')
    where not private.happened_within(check_wanted_at, '10 seconds');
  return jsonb_build_object('is_checking', true);
end
$$;
