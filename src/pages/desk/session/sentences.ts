import type { AuthError } from '@supabase/auth-js'

import { isForeignResponse, isRetryable } from '../../../client/auth-errors.ts'
import { foreignServerMessage } from '../kit/Problem.tsx'

// Stryker disable StringLiteral: a test would only repeat the words
const sentences: Record<string, string> = {
  otp_expired: 'This code is wrong, was used already or has expired. Use the one in the newest email.',
  invalid_credentials:
    'The address or the password is wrong. Without a password, sign in by a code; you can then set one under Account.',
  over_request_rate_limit: 'There were too many tries. Please wait 15 minutes, and try again.',
  validation_failed: 'This email address cannot be used. Please check it.',
  email_address_invalid: 'This email address cannot be used. Please check it.',
  email_address_not_authorized: 'This project cannot email this address until it has its own SMTP server.',
  user_banned: 'This account is suspended. Please ask the person who runs this site.',
  bad_jwt: 'Your session has ended. Please sign in again.',
  session_not_found: 'Your session has ended. Please sign in again.',
  user_not_found: 'Your session has ended. Please sign in again.',
}

// Stryker restore StringLiteral

/** A sentence about an error of the sign-in, with advice. */
export function sentenceOfSignIn(error: AuthError): string {
  if (isRetryable(error)) {
    return error.status
      ? 'The server could not respond. Please try again in a moment.'
      : 'The server could not be reached. Please check your connection, and try again.'
  }
  if (error.code === 'over_email_send_rate_limit') return tooManyEmails(error.message)
  return sentenceIn(sentences, error) ?? serverSentence(error)
}

/** The sentence for an error's code, from a table; undefined if the table has none. */
export function sentenceIn(known: Record<string, string>, { code }: AuthError) {
  return code === undefined ? undefined : known[code]
}

function tooManyEmails(message: string) {
  const seconds = /(\d+) seconds?/.exec(message)?.[1]
  return seconds === undefined
    ? 'Too many emails were requested. Please wait an hour, and try again.'
    : `An email was requested a moment ago. Please wait ${seconds} ${seconds === '1' ? 'second' : 'seconds'} before you ask for another.`
}

function serverSentence(error: AuthError) {
  const { message } = error
  // A response from another server could not be parsed.
  if (isForeignResponse(error)) return foreignServerMessage
  return message === '' ? 'That did not work. Please try again.' : `The server said: ${message}`
}
