-- Sets the reply address, and whether receipts and confirmations are sent; null leaves a switch unchanged. Without a version, the
-- reply address is left unchanged, and no version is compared: a switch replaces only what the organiser saw.
create function public.desk_set_letters(
  version integer, reply_to text, receipts boolean default null, confirmations boolean default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.letter_settings;
  kept private.letter_settings;
begin
  if char_length(reply_to) > 254
    or coalesce(reply_to, '') !~ '^([^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+)?$'
  then
    raise exception 'The reply address is one email address, or blank.' using errcode = '22023';
  end if;
  select * into former from private.letter_settings for update;
  kept := former;
  kept.reply_to := case when version is null then former.reply_to else coalesce(reply_to, '') end;
  kept.receipts := coalesce(desk_set_letters.receipts, former.receipts);
  kept.confirmations := coalesce(desk_set_letters.confirmations, former.confirmations);
  if kept is distinct from former then
    if former.version <> desk_set_letters.version then
      raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
    end if;
    kept.version := former.version + 1;
    update private.letter_settings as settings
      set version = kept.version, reply_to = kept.reply_to, receipts = kept.receipts, confirmations = kept.confirmations;
    if kept.reply_to <> former.reply_to then
      perform private.write_down_letters(me.email, jsonb_build_object('reply_to', kept.reply_to));
    end if;
    if former.receipts and not kept.receipts then
      perform private.recall(array(
        select id from private.deliveries where kind = 'receipt' and state = 'waiting' for update skip locked
      ), me.email);
    end if;
    if kept.receipts <> former.receipts then
      perform private.write_down_letters(me.email, jsonb_build_object('receipts', kept.receipts));
    end if;
    if kept.confirmations <> former.confirmations then
      perform private.write_down_letters(me.email, jsonb_build_object('confirmations', kept.confirmations));
    end if;
  end if;
  return jsonb_build_object('version', kept.version, 'reply_to', kept.reply_to, 'receipts', kept.receipts,
    'confirmations', kept.confirmations);
end
$$;
