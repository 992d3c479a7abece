-- When a letter to an address last failed or came back: {failed_at}, null if none did.
create function public.desk_address(address text) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    raise exception 'Switch blind reading off to change an address.' using errcode = '22023';
  end if;
  return jsonb_build_object('failed_at', private.last_failure(address));
end
$$;
