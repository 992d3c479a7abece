import { createRoot } from 'react-dom/client'

import { createDesk } from '../../client/desk.ts'
import { createSession } from '../../client/session.ts'
import { readPageData } from '../page-data.ts'
import { Desk } from './Desk.tsx'
import { forgetTyped } from './kit/useTyped.ts'
import type { DeskData } from './render.tsx'
import { takeArrival } from './session/arrival.ts'
import { watchSession } from './session/watch-session.ts'
import { siteRoot } from './site-root.ts'

const { backend, signInIsElsewhere } = readPageData() as DeskData
const root = document.getElementById('page')
if (root) {
  const { auth, restOf } = createSession({ ...backend, url: backend.url ?? siteRoot() })
  const arrival = takeArrival(backend.url !== null)
  const deskOf = (account: string) => createDesk(restOf(account))
  const told = arrival && 'notice' in arrival ? arrival.notice : undefined
  const session = watchSession(auth, deskOf, forgetTyped, told)
  const brought = arrival && 'session' in arrival ? arrival.session : undefined
  createRoot(root).render(<Desk {...{ auth, session, brought, signInIsElsewhere }} />)
}
