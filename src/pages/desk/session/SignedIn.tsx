import type { GoTrueClient } from '@supabase/auth-js'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore, type ReactNode } from 'react'

import { announce } from '../announcement.ts'
import { Opening } from '../Opening.tsx'
import { Account, forgetOthersTyped } from '../typed.ts'
import { useSignInLink } from './arrival.ts'
import { SecondFactor } from './SecondFactor.tsx'
import { SignIn } from './SignIn.tsx'
import { SignInByLink } from './SignInByLink.tsx'
import { SignOutButton } from './SignOutButton.tsx'
import type { WatchedStanding } from './standing.ts'
import { Said, Step } from './Step.tsx'

interface SignedInProps {
  auth: GoTrueClient
  standing: WatchedStanding
  isElsewhere: boolean
  children: (me: { email: string; account: string }) => ReactNode
}

/** Shows the desk to an organiser who has signed in, and otherwise how to. */
export function SignedIn({ auth, standing, isElsewhere, children }: SignedInProps) {
  const now = useSyncExternalStore(standing.subscribe, standing.now)
  const link = useSignInLink()
  if (isElsewhere) return <Elsewhere />
  if (link) return <SignInByLink key={link.token_hash} auth={auth} link={link} />
  switch (now.step) {
    case 'opening':
      return <Opening />
    case 'out':
      return <SignIn auth={auth} notice={now.notice} />
    case 'factor':
      return <SecondFactor auth={auth} standing={standing} />
    case 'stranger':
      return <Stranger standing={standing} email={now.email} />
    case 'unreachable':
      return <Unreachable sentence={now.sentence} onAgain={standing.askAgain} />
    case 'in':
      return (
        <Inside key={now.account} account={now.account}>
          {children(now)}
        </Inside>
      )
  }
}

/** The desk itself. Whoever leaves it leaves nothing behind for who comes next. */
function Inside({ account, children }: { account: string; children: ReactNode }) {
  const queries = useQueryClient()
  useEffect(() => {
    forgetOthersTyped(account)
    return () => {
      queries.clear()
      announce('')
    }
  }, [queries, account])
  return <Account value={account}>{children}</Account>
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

function Stranger({ standing, email }: { standing: WatchedStanding; email: string }) {
  return (
    <Step title="Not an organiser">
      <p>
        You are signed in as <b>{email}</b>, who is no organiser here. Please ask whoever runs this site to
        make you one, or use another address.
      </p>
      <div className="row">
        <SignOutButton standing={standing} />
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
