import type { WatchedSession } from './watch-session.ts'
import { useSending } from './use-sending.ts'

/** Ends this session; says so where that does not work, since then it still counts. */
export function SignOutButton({ session }: { session: WatchedSession }) {
  const { problem, isUnderWay, press } = useSending(() => session.signOut('local'))
  return (
    <>
      <button type="button" className="quiet" disabled={isUnderWay} onClick={press}>
        Sign out
      </button>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
