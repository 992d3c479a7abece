create function public.desk_organisers() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.organisers_shown();
end
$$;
