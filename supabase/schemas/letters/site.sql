-- The address of the site, to which links in letters lead.

-- Stores what a server knows: the site's address, the emails' sender, and its time zone. A blank value does not replace what
-- another server stored.
create function private.know_site(site text, sender text, zone text) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.adopt_zone(zone);
  update private.places set
      site = coalesce(nullif(know_site.site, ''), places.site),
      sender = coalesce(nullif(know_site.sender, ''), places.sender)
    where (places.site, places.sender) is distinct from (
      coalesce(nullif(know_site.site, ''), places.site), coalesce(nullif(know_site.sender, ''), places.sender));
end
$$;

-- Refuses an invalid address of a site.
create function private.check_site(site text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(site, '') !~ '^(https?://[^\s<>"\\{}#?]+[^\s<>"\\{}#?/])?$' then
    raise exception 'This is not a site''s address.' using errcode = '22023';
  end if;
end
$$;
