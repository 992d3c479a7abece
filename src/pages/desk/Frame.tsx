import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'

import { useAnnouncement } from './announcement.ts'
import { Boundary } from './Boundary.tsx'
import { Connection } from './Connection.tsx'
import { skipToContent } from './focus.ts'
import { KeyHelp } from './keys/KeyHelp.tsx'
import { SignOutButton } from './session/SignOutButton.tsx'
import type { WatchedSession } from './session/watch-session.ts'

interface FrameProps {
  session: WatchedSession
  email: string
  children: ReactNode
}

/** What stands around every screen: where to go, who is signed in, and what was done last. */
export function Frame({ session, email, children }: FrameProps) {
  const [path] = useLocation()
  const queries = useQueryClient()
  const current = (place: string) => (path === place ? 'page' : undefined)
  return (
    <div className="desk">
      <header className="top">
        <a className="skip" href="#content" onClick={skipToContent}>
          Skip to the content
        </a>
        <p className="brand">Unplugged.</p>
        <nav aria-label="Desk">
          <Link href="/" aria-current={current('/')}>
            Applications
          </Link>
          <Link href="/letters" aria-current={path.startsWith('/letters') ? 'page' : undefined}>
            Letters
          </Link>
          <Link href="/door" aria-current={current('/door')}>
            Door
          </Link>
          <Link href="/account" aria-current={current('/account')}>
            Account
          </Link>
        </nav>
        <p className="who">{email}</p>
        <KeyHelp />
        <SignOutButton session={session} />
      </header>
      <Connection />
      <div id="content" tabIndex={-1}>
        {/* What was read may be what it cannot show: all of it is read anew. */}
        <Boundary key={path} onTryAgain={() => queries.removeQueries()}>
          {children}
        </Boundary>
      </div>
      <Announcement />
    </div>
  )
}

function Announcement() {
  const { text, count } = useAnnouncement()
  return (
    // Screen readers know the role for longer than the element of the same meaning.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p className="said" role="status">
      {text !== '' && <span key={count}>{text}</span>}
    </p>
  )
}
