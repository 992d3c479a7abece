-- What an application sends: a receipt and notices.

create function private.write_receipts_and_notices() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  receipts boolean := (select settings.receipts from private.letter_settings as settings);
  application public.retreat_applications;
begin
  if not receipts and not exists (select from private.organisers where notices = 'each') then return null; end if;
  for application in
    select stored.* from arrived join public.retreat_applications as stored using (id) where stored.added_by is null
  loop
    begin
      if receipts then perform private.write_receipt(application); end if;
      perform private.write_notices(application.id);
    -- Storing the application matters more than its emails.
    exception when others then
      raise log 'An application was stored without receipt and notices (SQLSTATE %).', sqlstate;
    end;
  end loop;
  return null;
end
$$;

-- Its name sorts after `keep_door`. Triggers run in the order of their names, and a refused application sends no notice.
create trigger then_announce after insert on public.retreat_applications
  referencing new table as arrived for each statement execute function private.write_receipts_and_notices();
