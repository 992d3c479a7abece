create function public.desk_set_reads_only(reads_only boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_reads_only.reads_only is null then
    raise exception '“reads_only” has to be true or false.' using errcode = '22023';
  end if;
  update private.organisers set reads_only = desk_set_reads_only.reads_only where account_id = me.id;
  return public.desk_blind();
end
$$;
