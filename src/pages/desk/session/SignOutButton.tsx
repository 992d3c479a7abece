import { Problem } from '../kit/Problem.tsx'
import type { WatchedSession } from './watch-session.ts'
import { useForm } from './useForm.tsx'

/** Ends this session. Where that fails it says so, since the session is still valid then. */
export function SignOutButton({ session }: { session: Pick<WatchedSession, 'signOut'> }) {
  const { error, isPending, press } = useForm(() => session.signOut('local'))
  return (
    <>
      <button type="button" className="quiet" disabled={isPending} onClick={press}>
        Sign out
      </button>
      <Problem error={error} />
    </>
  )
}
