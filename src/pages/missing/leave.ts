/** The script of the page for missing addresses: it leads a link that a mail program changed to its page. */
import { mendedLink } from '../mended-link.ts'

const link = mendedLink(location)
if (link !== undefined) location.replace(link)
