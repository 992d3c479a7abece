-- Resends an undelivered letter to another address. All later letters to this applicant go there, too. The letter can be stopped
-- for a minute, as after its release. Where no server emails letters, it becomes a draft, for an organiser to send. `letter` is the
-- id of the failed delivery.
create function public.desk_readdress(act uuid, letter uuid, address text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  failed private.deliveries;
begin
  if me.blind then
    raise exception 'Switch blind reading off to change an address.' using errcode = '22023';
  end if;
  perform private.check_address(address);
  if private.begin_act(act, 'desk_readdress', letter::text, address) then
    perform private.lock_letters(array[letter]);
    select * into failed from private.deliveries where id = letter;
    if (failed.kind, failed.state) is distinct from ('letter', 'failed') then
      raise exception 'This letter no longer needs another address.' using errcode = 'PT409';
    end if;
    perform private.refuse_withdrawn(failed.application_id);
    perform private.write_down(failed.application_id, act, me.email, 'address',
      jsonb_build_object('address', address, 'occasion', (
        select coalesce(template, '') from private.letters where id = failed.letter_id)));
    insert into private.addresses (application_id, address) values (failed.application_id, desk_readdress.address)
      on conflict (application_id) do update set address = excluded.address;
    perform private.retry_failed(array[failed.id]);
    if private.is_postman_there() then
      update private.deliveries set due_at = now() + (select hold from private.letter_settings),
          act = coalesce(deliveries.act, desk_readdress.act)
        where id = failed.id;
    else
      perform private.recall(array[failed.id], me.email);
      perform private.settle_letter(delivery) from private.deliveries as delivery where id = failed.id;
    end if;
  end if;
  return private.letter_deliveries_shown(array[letter], false) -> 0;
end
$$;
