/** The root of the site, with a final slash, for a page in a folder: served as `desk`, `desk/` or `desk/index.html`. */
export function siteRoot({ origin, pathname }: Pick<Location, 'origin' | 'pathname'> = location): string {
  return `${origin}${pathname.replace(/[^/]+(\/(index\.html)?)?$/, '')}`
}
