import type { Application } from '../../application/application.ts'
import type { Backend } from '../../client/submit.ts'

/** How a send that the browser made itself, without the page's script, ended. */
export type NativeOutcome =
  | { status: 'success' }
  | { status: 'error'; message: string; application: Application }

/** What a rendering of the applicants' page was made from. */
export interface ApplyData {
  backend: Backend
  /** Whether the page's own server takes the form as the browser sends it. */
  takesNativePosts: boolean
  outcome: NativeOutcome | null
  /** What whoever applies now is told; it is left out while applications are taken, and where nobody knew. */
  door?: string | undefined
}

declare global {
  interface Window {
    /** A send from before the page's script was there, for the script to carry out. */
    heldSend?: { claim: () => void } | undefined
    /** Whether the browser is posting the form by itself. */
    isPosting?: boolean
    /** Whether the page's script has taken the form over. */
    isHydrated?: boolean
  }
}
