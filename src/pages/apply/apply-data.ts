import type { Application } from '../../application/application.ts'
import type { Backend } from '../../client/submit.ts'

/** How a send ended that the browser made without the page's script. */
export type NativeOutcome =
  | { status: 'success' }
  | { status: 'error'; message: string; application: Application }

/** The data from which the applicants' page is rendered. */
export interface ApplyData {
  backend: Backend
  /** Whether the page's own server accepts a form that the browser posts by itself. */
  takesNativePosts: boolean
  outcome: NativeOutcome | null
  /** What the closed door says; left out while applications are taken, and where the document's server did not know. */
  door?: string | undefined
}

declare global {
  interface Window {
    /** A send that was made before the page's script was there, and that the script has to carry out. */
    heldSend?: { claim: () => void } | undefined
    /** Whether the browser is posting the form by itself. */
    isPosting?: boolean
    /** Whether the page's script has taken the form over. */
    isHydrated?: boolean
  }
}
