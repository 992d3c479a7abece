-- Removes an organiser, but not the last one who may do everything. Our own server's accounts go with their sessions; a hosted
-- project keeps the account, which then has no right. Returns all organisers.
create function public.desk_remove_organiser(account uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  person text;
begin
  if private.has_own_accounts() then
    -- The account is locked before the organisers, as by an invitation.
    perform from auth.users where id = account for update;
  end if;
  person := private.organiser_to_change(account, stays => false);
  delete from private.organisers where account_id = account;
  if private.has_own_accounts() then
    delete from auth.users where id = account;
  end if;
  perform private.write_down_organiser(me.email, jsonb_build_object('organiser', person, 'is_removed', true));
  return private.organisers_shown();
end
$$;
