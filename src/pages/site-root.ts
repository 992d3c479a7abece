/** Where the site begins that a page belongs to, whether it is asked for as `desk`, `desk/` or a file there. */
export function siteRoot({ origin, pathname }: Pick<Location, 'origin' | 'pathname'> = location): string {
  return `${origin}${pathname.replace(/\/(desk|answer)(\/(index\.html)?)?$/, '/')}`
}
