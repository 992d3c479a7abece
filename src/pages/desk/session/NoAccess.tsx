import { Step } from './Step.tsx'
import { SignOutButton } from './SignOutButton.tsx'
import type { WatchedSession } from './watch-session.ts'

/** The page for a signed-in person who is not an organiser. */
export function NotAnOrganiser({ session, email }: { session: WatchedSession; email: string }) {
  return (
    <Step title="Not an organiser">
      <p className="layout-text">
        You are signed in as <b>{email}</b>, who is not an organiser here. Please ask the person who runs this
        site to make you one, or use another address.
      </p>
      <div className="layout-row">
        <SignOutButton session={session} />
      </div>
    </Step>
  )
}

/** The page at this server's address of the desk if organisers sign in at a hosted project instead. */
export function SignInElsewhere() {
  return (
    <Step title="The desk is elsewhere">
      <p className="layout-text">
        Organisers of this retreat sign in at another address. Your operator knows it.
      </p>
    </Step>
  )
}
