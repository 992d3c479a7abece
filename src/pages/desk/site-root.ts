/** Where the site begins that the desk belongs to, whether the desk is asked for as `desk`, `desk/` or a file there. */
export function siteRoot({ origin, pathname }: Pick<Location, 'origin' | 'pathname'> = location): string {
  return `${origin}${pathname.replace(/\/desk(\/(index\.html)?)?$/, '/')}`
}
