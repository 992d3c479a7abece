import { UnreachableError } from '../../client/insert.ts'
import { fallbackText, offlineKeptText, offlineText } from './copy.ts'

/** How the last send ended, and whether one is under way: two things, since a new send begins as idle. */
export interface Submission {
  status: 'idle' | 'success' | 'error'
  sending: boolean
  /** What the red box says. */
  message: string
  /** How many sends succeeded; each of them leaves an empty form. */
  accepted: number
  /** When this tab sent an application before it was loaded again, as on a clock; until somebody types. */
  sentAt?: string | undefined
}

export type SubmissionEvent =
  | { type: 'sent' | 'refused' | 'accepted' | 'typed' }
  | { type: 'failed'; message: string }
  | { type: 'restored'; sentAt: string | undefined }

export const idle: Submission = { status: 'idle', sending: false, message: '', accepted: 0 }

/** The next state of the submission. */
export function nextSubmission(submission: Submission, event: SubmissionEvent): Submission {
  switch (event.type) {
    case 'sent':
      return { ...submission, status: 'idle', sending: true, message: '' }
    case 'refused':
      return { ...submission, status: 'idle', sending: false }
    case 'accepted':
      return { ...submission, status: 'success', sending: false, accepted: submission.accepted + 1 }
    case 'failed':
      return { ...submission, status: 'error', sending: false, message: event.message }
    case 'restored':
      return { ...submission, sentAt: event.sentAt }
    case 'typed':
      return submission.sentAt === undefined ? submission : { ...submission, sentAt: undefined }
  }
}

/**
 * The message that a visitor reads: the error's own, where it is an error that has one.
 *
 * @param isKept Whether the browser has stored the answers.
 */
export function messageOf(error: unknown, isKept: boolean): string {
  if (error instanceof UnreachableError) return isKept ? offlineKeptText : offlineText
  return (error instanceof Error && error.message) || fallbackText
}
