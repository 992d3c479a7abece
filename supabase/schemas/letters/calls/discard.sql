-- Removes drafts. A new decision drafts its letter again. The result counts the removed drafts.
create function public.desk_discard(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  update private.letters set state = 'dropped' where id = any (desk_discard.letters) and state = 'draft';
  return (
    select jsonb_build_object('discarded', count(*)) from private.letters
    where id = any (desk_discard.letters) and state = 'dropped'
  );
end
$$;
