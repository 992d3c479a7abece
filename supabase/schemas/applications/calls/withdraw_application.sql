-- Withdraws an application by the link in its receipt, or takes that back (`is_withdrawn` false). Repeating the act changes nothing,
-- and neither does what is so already. Nothing changes once the application is decided. Returns the application afterwards, as
-- `withdrawal_by_token` does.
create function public.withdraw_application(token text, is_withdrawn boolean, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_receipt(token);
begin
  if act is null or is_withdrawn is null then
    raise exception 'An application is withdrawn or not, and the act has an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- Read again under the lock, since an organiser may have decided meanwhile.
  if public.withdrawal_by_token(token) ->> 'state' = (case when is_withdrawn then 'open' else 'withdrawn' end) then
    perform private.refuse_too_many_changes(application, act);
    if private.begin_act(act, 'withdraw_application', token, is_withdrawn::text) then
      perform private.set_withdrawn(application, act, is_withdrawn);
    end if;
  end if;
  return public.withdrawal_by_token(token);
end
$$;
