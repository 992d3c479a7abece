/** The root of the site, with a final slash, for pages served as `desk`, `desk/` or `desk/index.html`, or likewise `answer`. */
export function siteRoot({ origin, pathname }: Pick<Location, 'origin' | 'pathname'> = location): string {
  return `${origin}${pathname.replace(/\/(desk|answer)(\/(index\.html)?)?$/, '/')}`
}
