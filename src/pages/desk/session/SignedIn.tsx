import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { LoadAuth } from '../../../client/session.ts'
import { announce } from '../kit/announce.tsx'
import { DeskProvider } from '../kit/useDesk.tsx'
import { forgetOthersTyped } from '../kit/useTyped.ts'
import { Opening, Said, Step } from './Step.tsx'
import { useSignInLink, type BroughtSession } from './arrival.ts'
import { SecondFactor, SignIn } from './SignIn.tsx'
import { SignInByLink } from './SignInByLink.tsx'
import { SignOutButton } from './SignOutButton.tsx'
import type { Me, WatchedSession } from './watch-session.ts'

interface SignedInProps {
  auth: LoadAuth
  session: WatchedSession
  /** What a hosted project's link brought. */
  brought: BroughtSession | undefined
  isElsewhere: boolean
  /** Makes the store of what somebody reads. */
  createQueries: () => QueryClient
  children: ReactNode
}

/** Shows the desk to an organiser who has signed in, and otherwise how to. */
export function SignedIn({ auth, session, brought, isElsewhere, createQueries, children }: SignedInProps) {
  const now = useSyncExternalStore(session.subscribe, session.now, session.now)
  const [untaken, setUntaken] = useState(brought)
  const link = useSignInLink() ?? untaken
  if (isElsewhere) return <Elsewhere />
  if (link) {
    const key = 'token_hash' in link ? link.token_hash : ''
    return <SignInByLink key={key} auth={auth} link={link} onLeave={() => setUntaken(undefined)} />
  }
  switch (now.step) {
    case 'opening':
      return <Opening />
    case 'out':
      return <SignIn auth={auth} notice={now.notice} />
    case 'factor':
      return <SecondFactor auth={auth} session={session} />
    case 'stranger':
      return <Stranger session={session} email={now.email} />
    case 'unreachable':
      return <Unreachable sentence={now.sentence} onAgain={session.askAgain} />
    case 'in':
      return (
        <Inside key={now.account} me={now} createQueries={createQueries}>
          {children}
        </Inside>
      )
  }
}

interface InsideProps extends Pick<SignedInProps, 'createQueries' | 'children'> {
  me: Me
}

/** The desk itself. What one person read or typed is dropped when they leave, before the next person comes. */
function Inside({ me, createQueries, children }: InsideProps) {
  const { account } = me
  const [queries] = useState(createQueries)
  useEffect(() => {
    forgetOthersTyped(account)
    return () => {
      queries.clear()
      announce('')
    }
  }, [queries, account])
  return (
    <QueryClientProvider client={queries}>
      <DeskProvider me={me}>{children}</DeskProvider>
    </QueryClientProvider>
  )
}

function Elsewhere() {
  return (
    <Step title="The desk is elsewhere">
      <p>
        The accounts of this database are a Supabase project’s, so organisers sign in there, at the static
        desk. It is made by <code>npm run build</code> with the project’s <code>VITE_</code> settings: put{' '}
        <code>dist/</code> on a static host, and open its <code>/desk/</code>.
      </p>
    </Step>
  )
}

function Stranger({ session, email }: { session: WatchedSession; email: string }) {
  return (
    <Step title="Not an organiser">
      <p>
        You are signed in as <b>{email}</b>, who is no organiser here. Please ask whoever runs this site to
        make you one, or use another address.
      </p>
      <div className="row">
        <SignOutButton session={session} />
      </div>
    </Step>
  )
}

function Unreachable({ sentence, onAgain }: { sentence: string; onAgain: () => void }) {
  useEffect(() => {
    addEventListener('online', onAgain)
    return () => removeEventListener('online', onAgain)
  }, [onAgain])
  return (
    <Step title="The desk cannot be opened now">
      <Said text={sentence} isProblem />
      <button onClick={onAgain}>Try again</button>
    </Step>
  )
}
