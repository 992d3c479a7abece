import { startTransition, useActionState } from 'react'

import { Button } from '../kit/Button.tsx'
import { Alert, reportUnexpected } from '../kit/Problem.tsx'
import type { WatchedSession } from './watch-session.ts'

interface SignOutButtonProps {
  session: Pick<WatchedSession, 'signOut'>
  /** Asks the organiser if signing out would lose changes. Returns whether to go on. */
  confirmLoss?: () => boolean
}

/** A button that ends this session. It shows a failure, since the session is still valid then. */
export function SignOutButton({ session, confirmLoss = () => true }: SignOutButtonProps) {
  const [failure, signOut, isPending] = useActionState(
    () => session.signOut('local').catch(reportUnexpected),
    undefined,
  )
  return (
    <>
      <Button isOff={isPending} onPress={() => confirmLoss() && startTransition(signOut)}>
        Sign out
      </Button>
      {failure !== undefined && <Alert>{failure}</Alert>}
    </>
  )
}
