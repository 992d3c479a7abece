-- Sets what the applicants' page says: `texts` and `shown` as in the result of `desk_page`. A text that is left out is blank. The
-- history gets the former values of what changed.
create function public.desk_set_page(version integer, texts jsonb, shown jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.page;
  changed private.page;
begin
  if jsonb_typeof(texts) is distinct from 'object' or jsonb_typeof(shown) is distinct from 'object' then
    raise exception '“texts” and “shown” have to be objects.' using errcode = '22023';
  end if;
  select coalesce(jsonb_object_agg(key, case key
      when 'about' then private.trimmed(regexp_replace(replace(value, E'\t', ' '), E'\r\n?', E'\n', 'g'))
      when 'accent' then lower(private.trimmed(value))
      else private.trimmed(value) end), '{}')
    into texts from jsonb_each_text(texts);
  perform private.check_page(texts);
  select * into former from private.page for update;
  changed := jsonb_populate_record(former, (
      select jsonb_object_agg(name, coalesce(texts ->> name, '')) from jsonb_object_keys(private.page_limits()) as name
    ) || jsonb_strip_nulls(jsonb_build_object(
      'shows_days', shown -> 'days', 'shows_venue', shown -> 'venue', 'shows_closing', shown -> 'closing')));
  if changed = former then
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
    return public.desk_page();
  elsif former.version is distinct from desk_set_page.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.page set version = former.version + 1, title = changed.title, tagline = changed.tagline, badge = changed.badge,
    success = changed.success, privacy_url = changed.privacy_url, privacy_label = changed.privacy_label,
    accent = changed.accent, cost = changed.cost, hear_back = changed.hear_back, about = changed.about,
    shows_days = changed.shows_days, shows_venue = changed.shows_venue, shows_closing = changed.shows_closing;
  insert into private.history (author, kind, detail)
    select me.email, 'page', jsonb_object_agg(before.key, before.value)
    from jsonb_each(to_jsonb(former)) as before join jsonb_each(to_jsonb(changed)) as after using (key)
    where before.value <> after.value;
  return public.desk_page();
end
$$;
