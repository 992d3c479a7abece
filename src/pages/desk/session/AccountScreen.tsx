import type { GoTrueClient } from '@supabase/auth-js'

import { BlindReading } from './BlindReading.tsx'
import { FactorSettings } from './FactorSettings.tsx'
import type { WatchedStanding } from './standing.ts'
import { useSending } from './use-sending.ts'
import { useTitle } from '../title.ts'

export interface AccountScreenProps {
  auth: GoTrueClient
  standing: WatchedStanding
  email: string
}

/** What an organiser sets for themselves. */
export function AccountScreen({ auth, standing, email }: AccountScreenProps) {
  useTitle('Account')
  return (
    <div className="account">
      <h1>Account</h1>
      <p>
        You are signed in as <b>{email}</b>.
      </p>
      <BlindReading callDesk={standing.callDesk} />
      <FactorSettings auth={auth} />
      <Sessions standing={standing} />
    </div>
  )
}

function Sessions({ standing }: { standing: WatchedStanding }) {
  const { problem, isUnderWay, press } = useSending(() => standing.signOut('global'))
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
