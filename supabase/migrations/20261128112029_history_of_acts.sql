-- So that the history recognises a repeated act after the act was forgotten.
alter table private.history add column given text;

create function private.remember_given() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- A restored event has its own.
  if new.given is null and new.kind <> 'questions' then
    new.given := (select call || ' ' || given from private.acts where acts.act = new.act);
  end if;
  return new;
end
$$;

revoke all on function private.remember_given() from public, anon, authenticated;
create trigger remember_given before insert on private.history
  for each row execute function private.remember_given();
