-- What the applicants' page says, and what it could show: {version, texts, shown, facts, history}. `texts` has every text, blank
-- for the default. `shown` says which of the other facts it shows: {days, venue, closing}. `facts` are the days and the venue of
-- the newest retreat, whether they are set or not, and the time at which the door closes. `page` is what the page says now.
-- `history` has the last change, as a list of at most one entry; its `detail` has the former values.
create function public.desk_page() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'version', page.version,
      'texts', private.page_texts(page),
      'shown', jsonb_build_object('days', shows_days, 'venue', shows_venue, 'closing', shows_closing),
      'facts', jsonb_build_object('edition', newest.id, 'name', newest.name, 'version', newest.calendar_sequence,
        'starts_on', newest.starts_on, 'ends_on', newest.ends_on, 'venue', newest.venue,
        'closes_at', private.door_state() -> 'closes_at', 'zone', coalesce(places.zone, 'UTC')),
      'page', private.page_shown(),
      'history', (
        select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', author, 'kind', kind, 'detail', detail)), '[]')
        from (
          select * from private.history where application_id is null and kind = 'page' order by id desc limit 1
        ) as last
      ))
    from private.page cross join private.places
      cross join lateral (select * from private.editions order by id desc limit 1) as newest
  );
end
$$;
