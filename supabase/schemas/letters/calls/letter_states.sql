-- For desks that were opened before an update. Newer desks get these states with the list.
create function public.desk_letter_states(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications can be requested at once.' using errcode = '22023';
  end if;
  return private.letter_states(applications);
end
$$;
