import { StrictMode } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'

import { createDesk } from '../../client/desk.ts'
import { sessionKey } from '../../client/stored-session.ts'
import { createSession } from '../../client/session.ts'
import { readPageData } from '../page-data.ts'
import { elementForReact } from './applications/take-over.ts'
import type { DeskData } from './desk-data.ts'
import { Desk } from './Desk.tsx'
import { watchConnection } from './kit/connection.ts'
import { routeOf } from './kit/route.ts'
import { loadScreens } from './kit/Screen.tsx'
import { SiteTitle } from './kit/site-title.tsx'
import { forgetUnsentText } from './kit/useUnsentText.ts'
import { takeLinkContent } from './session/sign-in-link.ts'
import { watchSession } from './session/watch-session.ts'
import { siteRoot } from '../site-root.ts'

/** Milliseconds before the other scripts are preloaded, so that they do not delay the list. */
const preloadAfter = 3_000

const { backend, isSignInElsewhere, title, version } = readPageData() as DeskData
const root = document.getElementById('page')
if (root) {
  const signIn = createSession({ ...backend, url: backend.url ?? siteRoot() })
  const { auth, callAs } = signIn
  const linkContent = takeLinkContent(backend.url !== null)
  const deskOf = (account: string) => watchConnection(createDesk(callAs(account)))
  const firstNotice = linkContent && 'notice' in linkContent ? linkContent.notice : undefined
  const session = watchSession(signIn, deskOf, forgetUnsentText, firstNotice)
  const linkSession = linkContent && 'session' in linkContent ? linkContent.session : undefined
  addEventListener('storage', ({ key }) => key === sessionKey && session.changedElsewhere())
  const preload = () => {
    if (session.state().step !== 'in') return
    stopWaiting()
    // A script that fails to load here is retried when its screen opens.
    const load = () => Promise.allSettled([loadScreens(), auth()])
    setTimeout(() => void load(), preloadAfter)
  }
  const stopWaiting = session.subscribe(preload)
  // If the address shows another screen, its script is needed now. A failure is retried when the screen is shown.
  if (session.state().step !== 'out' && routeOf(location.hash).screen !== 'list')
    loadScreens().catch(() => {})
  const desk = (
    <StrictMode>
      <SiteTitle value={title}>
        <Desk {...{ auth, session, linkSession, isSignInElsewhere, version }} />
      </SiteTitle>
    </StrictMode>
  )
  // React expects the document as the server rendered it.
  window.heldPress?.removeAttribute('aria-busy')
  // Hydrating keeps the text that was already typed into the form.
  if (session.state().step === 'out' && root.querySelector('form')) hydrateRoot(root, desk)
  else createRoot(elementForReact(root, session)).render(desk)
}
