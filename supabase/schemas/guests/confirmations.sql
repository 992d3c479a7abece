-- Confirmations: letters to people who said on their page that they are coming, if organisers switched them on.

-- Sends somebody a confirmation, which can be stopped like any letter. A person gets at most one an hour, and none is queued
-- unless a server that sends emails was seen in the last day. A letter that quotes a blank form answer stays a draft. If this
-- fails, the RSVP is still stored. The caller has locked the application.
create function private.write_confirmation(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
declare
  drafted uuid;
  letter private.letters;
  text jsonb;
begin
  if not exists (
    select from private.letter_settings cross join private.postman
    where confirmations and seen_at > now() - interval '1 day'
  ) or exists (
    select from private.deliveries as delivery
    where delivery.application_id = application and private.is_confirmation(letter_id) and private.has_told(delivery)
      and private.happened_within(queued_at, '1 hour')
  ) then
    return;
  end if;
  drafted := private.draft_from_template(application, 'confirmed', true);
  -- Null: there is a draft already, or a letter that is pending or has failed.
  if drafted is null then return; end if;
  -- Uses the template's text, even if an organiser edited a draft for this person and removed it.
  update private.letters set subject = null, body = null where id = drafted returning * into letter;
  text := private.draft_text(letter, false);
  if text -> 'missing' = '[]' and text -> 'unknown' = '[]' and not (text ->> 'is_long')::boolean then
    update private.letters set state = 'released' where id = drafted;
    perform private.queue_letter(letter, 'letter', text, act, null);
    perform private.withdraw_receipt(application);
  end if;
exception when others then
  raise log 'An RSVP was stored without a confirmation (SQLSTATE %).', sqlstate;
end
$$;
