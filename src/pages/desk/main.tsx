import { createRoot } from 'react-dom/client'

import { createDesk } from '../../client/desk.ts'
import { createSession } from '../../client/session.ts'
import { readPageData } from '../page-data.ts'
import { Desk } from './Desk.tsx'
import type { DeskData } from './desk-data.ts'
import { takeArrival } from './session/arrival.ts'
import { watchStanding } from './session/standing.ts'
import { siteRoot } from './site-root.ts'

const { backend, signInIsElsewhere } = readPageData() as DeskData
const root = document.getElementById('page')
if (root) {
  const session = createSession({ ...backend, url: backend.url ?? siteRoot() })
  const standing = watchStanding(session.auth, createDesk(session.rest), takeArrival())
  createRoot(root).render(<Desk auth={session.auth} {...{ standing, signInIsElsewhere }} />)
}
