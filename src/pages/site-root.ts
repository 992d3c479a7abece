/** The root of the site that a page belongs to, whether the page is asked for as `desk`, `desk/` or a file there. */
export function siteRoot({ origin, pathname }: Pick<Location, 'origin' | 'pathname'> = location): string {
  return `${origin}${pathname.replace(/\/(desk|answer)(\/(index\.html)?)?$/, '/')}`
}
