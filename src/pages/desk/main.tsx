import { createRoot } from 'react-dom/client'

import { sessionKey } from '../../client/stored-session.ts'
import { readPageData } from '../page-data.ts'
import { elementForReact } from './applications/take-over.ts'
import type { DeskData } from './desk-data.ts'
import { createDeskPage } from './desk-page.tsx'
import { SignIn } from './Desk.tsx'
import { routeOf } from './data/route.ts'
import { loadScreens } from './kit/lazy-screen.tsx'
import { followTranslation } from './follow-translation.ts'

/** Milliseconds before the other scripts are preloaded, so that they do not delay the list. */
const preloadAfter = 3_000

const data = readPageData() as DeskData
const root = document.getElementById('page')
if (root) {
  followTranslation()
  const { auth, session, desk } = createDeskPage(data)
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
  const render = () => createRoot(elementForReact(root, session)).render(desk)
  const takeOverSignIn = async () => {
    const [{ hydrateSignIn }] = await Promise.all([import('./sign-in.ts'), SignIn.load()])
    // React expects the document as the server rendered it.
    window.heldPress?.removeAttribute('aria-busy')
    hydrateSignIn(root, desk)
  }
  // Without the script of the sign-in, the desk says so.
  if (session.state().step === 'out' && root.querySelector('form')) takeOverSignIn().catch(render)
  else render()
}
