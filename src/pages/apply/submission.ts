/** How the last send ended, and whether one is under way: two things, since a new send begins as idle. */
export interface Submission {
  status: 'idle' | 'success' | 'error'
  sending: boolean
  /** What the red box says. */
  message: string
  /** How many sends succeeded; each of them leaves an empty form. */
  accepted: number
}

export type SubmissionEvent = { type: 'sent' | 'refused' | 'accepted' } | { type: 'failed'; error: unknown }

export const idle: Submission = { status: 'idle', sending: false, message: '', accepted: 0 }

const fallbackMessage = 'Failed to submit application. Please try again.'

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
      return { ...submission, status: 'error', sending: false, message: messageOf(event.error) }
  }
}

/** The message that a visitor reads: the error's own, where it is an error that has one. */
export function messageOf(error: unknown): string {
  return (error instanceof Error && error.message) || fallbackMessage
}
