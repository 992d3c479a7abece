create function public.desk_letters_of(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications can be requested at once.' using errcode = '22023';
  end if;
  return private.letters_of(applications, me.blind);
end
$$;
