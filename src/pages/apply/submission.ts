import { closedCode } from '../../application/application.ts'
import { UnreachableError } from '../../client/insert.ts'
import { RefusedCall } from '../../client/rest.ts'
import { fallbackText, offlineStoredText, offlineText } from './copy.ts'

/**
 * The state of the form's submissions. `status` is the outcome of the last submission, and a new submission resets it.
 * `sending` says whether a submission is pending.
 */
export interface Submission {
  status: 'idle' | 'success' | 'error'
  sending: boolean
  /** The text of the failure box. */
  message: string
  /** The time `HH:MM` when this tab sent an application before a reload; undefined once somebody types. */
  sentAt?: string | undefined
}

/**
 * An event of the form. `sent` starts a submission, and `stored` or `failed` ends it. `refused` means that the browser found an
 * invalid field. `typed` and `restored` change only `sentAt`.
 */
export type SubmissionEvent =
  | { type: 'sent' | 'refused' | 'stored' | 'typed' }
  | { type: 'failed'; message: string }
  | { type: 'restored'; sentAt: string | undefined }

/** The state before the first submission. */
export const idle: Submission = { status: 'idle', sending: false, message: '' }

/** Returns the state after an event. */
export function nextSubmission(submission: Submission, event: SubmissionEvent): Submission {
  switch (event.type) {
    case 'sent':
      return { ...submission, status: 'idle', sending: true, message: '' }
    case 'refused':
      return { ...submission, status: 'idle', sending: false }
    case 'stored':
      return { ...submission, status: 'success', sending: false }
    case 'failed':
      return { ...submission, status: 'error', sending: false, message: event.message }
    case 'restored':
      return { ...submission, sentAt: event.sentAt }
    case 'typed':
      return submission.sentAt === undefined ? submission : { ...submission, sentAt: undefined }
  }
}

/**
 * Whether the backend has refused the application itself, so that no earlier try of it can be stored. A rate limit or a failure says
 * nothing about an earlier try.
 */
export function isJudged(error: unknown): error is RefusedCall {
  return error instanceof RefusedCall && (error.code === closedCode || error.code.startsWith('2'))
}

/**
 * The message to show for an error: the offline text, the error's own message, or a general one.
 *
 * @param isStored Whether the browser has stored the answers.
 */
export function messageOf(error: unknown, isStored: boolean): string {
  if (error instanceof UnreachableError) return isStored ? offlineStoredText : offlineText
  return (error instanceof Error && error.message) || fallbackText
}
