-- A trigger's condition is prepared anew for each statement. Those of two triggers took a fifth of what an insert of one
-- row takes; a short one that lets too much through, with the rest asked in the function, takes next to nothing.
drop trigger refuse_too_long on public.retreat_applications;
create trigger refuse_too_long
  before insert or update of first_name, last_name, email, phone, linkedin, company, custom_solution, reason
  on public.retreat_applications for each row
  -- No answer is longer than the whole, which nothing has compressed yet.
  when (pg_column_size(new) > 10000)
  execute function private.refuse_too_long();

create or replace function private.keep_search_vectors() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- What has become short by a change keeps its words, too.
  if tg_op = 'INSERT' and private.search_octets(new.first_name, new.last_name, new.email, new.linkedin, new.company,
      new.custom_solution, new.reason) <= 2000 then
    return null;
  end if;
  insert into private.search_vectors select kept.* from private.search_vectors_of(new) as kept
    on conflict (application_id) do update set vector = excluded.vector, blind_vector = excluded.blind_vector;
  return null;
end
$$;

drop trigger keep_search_vectors on public.retreat_applications;
create trigger keep_search_vectors after insert on public.retreat_applications for each row
  -- A byte counts for two and a half of the 2,000 at the most. What is stored may be compressed, this is not yet.
  when (pg_column_size(new) > 800)
  execute function private.keep_search_vectors();
