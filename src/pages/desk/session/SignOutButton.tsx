import type { WatchedStanding } from './standing.ts'
import { useSending } from './use-sending.ts'

/** Ends this session; says so where that does not work, since then it still counts. */
export function SignOutButton({ standing }: { standing: WatchedStanding }) {
  const { problem, isUnderWay, press } = useSending(() => standing.signOut('local'))
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
