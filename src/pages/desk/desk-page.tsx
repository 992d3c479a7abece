import { StrictMode, type ReactNode } from 'react'

import { createSession, type LoadAuth } from '../../client/session.ts'
import { siteRoot } from '../site-root.ts'
import type { DeskData } from './desk-data.ts'
import { Desk } from './Desk.tsx'
import { SiteTitleProvider } from './kit/site-title.tsx'
import { forgetUnsentText } from './data/useUnsentText.ts'
import { takeLinkContent } from './session/sign-in-link.ts'
import { watchSession, type WatchedSession } from './session/watch-session.ts'

/** The desk of one window: the sign-in that it begins with, and what React renders. */
interface DeskPage {
  auth: LoadAuth
  session: WatchedSession
  desk: ReactNode
}

/**
 * Begins with the stored session, or with the session of the link that was opened.
 *
 * @param data The data that the document was rendered from.
 * @param delays The retry delays of reads and decisions in milliseconds. Tests of screens do not wait for them.
 */
export function createDeskPage(
  { backend, isSignInElsewhere, title, version }: DeskData,
  delays?: readonly number[],
): DeskPage {
  const signIn = createSession({ ...backend, url: backend.url ?? siteRoot() }, delays)
  const { auth } = signIn
  const linkContent = takeLinkContent(backend.url !== null)
  const firstNotice = linkContent && 'notice' in linkContent ? linkContent.notice : undefined
  const session = watchSession(signIn, forgetUnsentText, firstNotice)
  const linkSession = linkContent && 'session' in linkContent ? linkContent.session : undefined
  const desk = (
    <StrictMode>
      <SiteTitleProvider title={title}>
        <Desk {...{ auth, session, linkSession, isSignInElsewhere, version }} />
      </SiteTitleProvider>
    </StrictMode>
  )
  return { auth, session, desk }
}
