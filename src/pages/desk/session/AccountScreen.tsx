import type { GoTrueClient } from '@supabase/auth-js'

import { BlindReading } from './BlindReading.tsx'
import { FactorSettings } from './FactorSettings.tsx'
import { PasswordSettings } from './PasswordSettings.tsx'
import type { Me, WatchedSession } from './watch-session.ts'
import { onlyAs, useSending, type AsMe } from './use-sending.ts'
import { useTitle } from '../title.ts'

export interface AccountScreenProps {
  auth: GoTrueClient
  session: WatchedSession
  me: Me
}

/** What an organiser sets for themselves. */
export function AccountScreen({ auth, session, me }: AccountScreenProps) {
  const { account, email, callDesk } = me
  const asMe = onlyAs(account, auth, session.askAgain)
  useTitle('Account')
  return (
    <div className="account">
      <h1>Account</h1>
      <p>
        You are signed in as <b>{email}</b>.
      </p>
      <BlindReading callDesk={callDesk} />
      <PasswordSettings {...{ auth, email, asMe }} />
      <FactorSettings {...{ auth, asMe }} />
      <Sessions {...{ session, asMe }} />
    </div>
  )
}

function Sessions({ session, asMe }: { session: WatchedSession; asMe: AsMe }) {
  const { problem, isUnderWay, press } = useSending(asMe(() => session.signOut('global')))
  return (
    <section className="sheet" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p>Ends every session of yours in every browser, this one too. Each has to sign in again.</p>
      <button className="quiet" disabled={isUnderWay} onClick={press}>
        {isUnderWay ? 'Ending…' : 'End all sessions'}
      </button>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}
