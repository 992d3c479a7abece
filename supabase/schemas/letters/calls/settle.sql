-- Records that organisers reached the applicants in another way after letters failed. `letters` are the ids of the failed
-- deliveries. The result counts these deliveries.
create function public.desk_settle(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  perform private.lock_deliveries(letters);
  with settled as (
    update private.deliveries set state = 'done', done_at = now(), by = 'elsewhere', reply = ''
      where id = any (desk_settle.letters) and kind in ('letter', 'decision', 'receipt') and state = 'failed'
      returning id
  )
  insert into private.history (application_id, author, kind, detail)
    select application_id, me.email, 'told', jsonb_build_object('occasion', occasion, 'way', way)
    from settled join private.letter_deliveries using (id);
  return (
    select jsonb_build_object('settled', count(*)) from private.deliveries
    where id = any (desk_settle.letters) and state = 'done' and by = 'elsewhere'
  );
end
$$;
