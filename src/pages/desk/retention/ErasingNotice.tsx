import type { Announcement } from '../../../application/announcement.ts'
import { hrefOf } from '../data/route.ts'
import { announcementOf } from './retention.ts'

/** The notice that applications will be erased, with a link to the settings. */
export function ErasingNotice({ announced }: { announced: Announcement }) {
  return (
    <p className="layout-notice">
      {announcementOf(announced)} <a href={hrefOf({ screen: 'retention' })}>How long applications are kept</a>
    </p>
  )
}
