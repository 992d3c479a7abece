import type { Application } from '../application/application.ts'
import type { Backend } from '../backend/backend.ts'

/** How a send that the browser made itself, without the page's script, ended. */
export type NativeOutcome =
  | { status: 'success' }
  | { status: 'error'; message: string; application: Application }

/** What a rendering of the page was made from. It is part of the document, where the script finds it. */
export interface PageData {
  backend: Backend
  /** Whether the page's own server takes the form as the browser sends it. */
  takesNativePosts: boolean
  outcome: NativeOutcome | null
}

/** The element that holds the page's data, as JSON. */
export const pageDataId = 'page-data'

/** Reads the data out of the document. */
export function readPageData(): PageData {
  return JSON.parse(document.getElementById(pageDataId)?.textContent ?? '') as PageData
}

declare global {
  interface Window {
    /** A send from before the page's script was there, for the script to carry out. */
    heldSend?: { take: () => void } | undefined
  }
}
