import type { LoadAuth } from '../../../client/session.ts'
import { hrefOf } from '../kit/places.ts'
import { Problem } from '../kit/Problem.tsx'
import { Heading, Sheet, useTitle } from '../kit/Screen.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { onlyAs, useForm, type AsMe } from '../session/useForm.tsx'
import type { WatchedSession } from '../session/watch-session.ts'
import { BlindEdit } from './BlindEdit.tsx'
import { FactorEdit } from './FactorEdit.tsx'
import { NoticesEdit } from './NoticesEdit.tsx'
import { PasswordEdit } from './PasswordEdit.tsx'

interface AccountShowProps {
  auth: LoadAuth
  session: WatchedSession
}

/** What an organiser sets for themselves. */
export function AccountShow({ auth, session }: AccountShowProps) {
  const { account, email } = useDesk()
  const asMe = onlyAs(account, auth, session.askAgain)
  useTitle('Account')
  return (
    <div className="account">
      <Heading>Account</Heading>
      <p>
        You are signed in as <b>{email}</b>. <a href={hrefOf({ screen: 'history' })}>History</a>
      </p>
      <BlindEdit />
      <NoticesEdit />
      <PasswordEdit {...{ auth, email, asMe }} />
      <FactorEdit {...{ auth, asMe }} />
      <SessionsEnd {...{ session, asMe }} />
    </div>
  )
}

function SessionsEnd({ session, asMe }: { session: WatchedSession; asMe: AsMe }) {
  const { error, isPending, press } = useForm(asMe(() => session.signOut('global')))
  return (
    <Sheet title="Sessions">
      <p>Ends every session of yours in every browser, this one too. Each has to sign in again.</p>
      <button className="quiet" disabled={isPending} onClick={press}>
        {isPending ? 'Ending…' : 'End all sessions'}
      </button>
      <Problem error={error} />
    </Sheet>
  )
}
