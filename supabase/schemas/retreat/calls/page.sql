-- What the applicants' page says, and what it could show: {version, texts, shown, facts, page, history}. `texts` has every text,
-- blank for the default. `shown` says which of the facts that are kept elsewhere it shows: {days, venue, closing}. `facts` are
-- these facts themselves. `page` is what the page says now. `history` has the last change, as a list of at most one entry; its
-- `detail` has the former values.
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
      'facts', private.page_facts(),
      'page', private.page_shown(),
      'history', (
        select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', private.author_shown(author, author_id), 'kind', kind, 'detail', detail)), '[]')
        from (
          select * from private.history where application_id is null and kind = 'page' order by id desc limit 1
        ) as last
      ))
    from private.page
  );
end
$$;
