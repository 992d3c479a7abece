create function public.desk_set_blind(blind boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_blind.blind is null then
    raise exception 'Blind reading must be on or off.' using errcode = '22023';
  end if;
  if me.blind <> desk_set_blind.blind then
    update private.organisers set blind = desk_set_blind.blind where account_id = me.id;
    insert into private.history (author, kind, detail)
      values (me.email, 'blind', jsonb_build_object('on', desk_set_blind.blind));
  end if;
  return public.desk_blind();
end
$$;
