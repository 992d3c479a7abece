import { createRoot } from 'react-dom/client'

import { createDesk } from '../../client/desk.ts'
import { createSession } from '../../client/session.ts'
import { readPageData } from '../page-data.ts'
import { Desk } from './Desk.tsx'
import type { DeskData } from './desk-data.ts'
import { siteRoot } from './site-root.ts'

const { backend, signInIsElsewhere } = readPageData() as DeskData
const root = document.getElementById('page')
if (root) {
  const session = createSession({ ...backend, url: backend.url ?? siteRoot() })
  const desk = <Desk auth={session.auth} callDesk={createDesk(session.rest)} {...{ signInIsElsewhere }} />
  createRoot(root).render(desk)
}
