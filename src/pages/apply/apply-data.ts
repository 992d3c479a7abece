import type { Application } from '../../application/application.ts'
import type { Backend } from '../../client/submit.ts'

/** The outcome of a form that the browser posted without the page's script. */
type NativeOutcome = { status: 'success' } | { status: 'error'; message: string; application: Application }

/** The data that the applicants' page is rendered from. */
export interface ApplyData {
  backend: Backend
  /** Whether the page's own server accepts a form posted by the browser. */
  takesNativePosts: boolean
  outcome: NativeOutcome | null
  /** The sentence that says that the door is closed; undefined if the door is open, or if the server did not know. */
  door?: string | undefined
  /** The operator's own text for the success box; undefined for the default. */
  success?: string | undefined
  /** The address of a page about privacy; undefined for no link. */
  privacyUrl?: string | undefined
  /** The words of the link to it. */
  privacyLabel: string
}

/** The part of the data that the page's scripts read. */
export interface ScriptData extends Pick<ApplyData, 'backend' | 'takesNativePosts' | 'success' | 'door'> {
  /** How a form ended that the browser posted; undefined if it posted none. */
  posted?: NativeOutcome['status'] | undefined
}

declare global {
  interface Window {
    /** A submission that waits for the page's script. `claim` ends the wait, so that its caller can submit the form. */
    heldSubmission?: { claim: () => void } | undefined
    /** Whether the browser is posting the form. */
    isPosting?: boolean
    /** Whether the page's script has taken over the form. */
    isReady?: boolean
  }
}
