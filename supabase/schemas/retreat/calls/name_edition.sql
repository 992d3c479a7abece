-- Names an edition. The first has no name until it gets one.
create function public.desk_name_edition(edition integer, name text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  name := btrim(coalesce(name, ''), E' \t\r\n');
  if char_length(name) > 100 or name ~ '[[:cntrl:]]' then
    raise exception 'A retreat has a name of at most 100 characters.' using errcode = '22023';
  end if;
  update private.editions as named set name = desk_name_edition.name, calendar_sequence = calendar_sequence + 1
    where named.id = desk_name_edition.edition and named.name <> desk_name_edition.name;
  if found then
    insert into private.history (author, kind, detail)
      values (me.email, 'edition', jsonb_build_object('edition', edition, 'name', name, 'is_renamed', true));
  end if;
  return public.desk_places(edition => edition);
end
$$;
