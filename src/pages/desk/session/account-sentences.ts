import type { AuthError } from '@supabase/auth-js'

import { sentenceIn, sentenceOfSignIn } from './sentences.ts'

// These sentences are not in sentences.ts, so that the script that loads first stays small.
// Stryker disable StringLiteral: a test would only repeat the words
const factorSentences: Record<string, string> = {
  mfa_verification_failed:
    'This code is wrong, or was used already. Please type the one that your app shows now.',
  mfa_challenge_expired: 'That took too long. Please type the code that your app shows now.',
  mfa_ip_address_mismatch: 'Your connection changed meanwhile. Please try again.',
  mfa_factor_not_found: 'This second factor no longer exists. Please reload the page.',
  insufficient_aal: 'Please sign out, and sign in again with the code of your app, to change this.',
  mfa_totp_enroll_not_enabled: 'Second factors are switched off in the settings of the project.',
  too_many_enrolled_mfa_factors: 'This account has the maximum number of second factors.',
}

const passwordSentences: Record<string, string> = {
  reauthentication_not_valid: 'This code is wrong or has expired. Please check it.',
  same_password: 'This is your current password. Please choose another.',
  validation_failed: 'This password is too long. Please choose a shorter one.',
  email_provider_disabled:
    'You signed in more than a day ago. Please sign out, and sign in again by a new link, to set a password.',
}

// Stryker restore StringLiteral

/** A sentence about an error with a second factor. */
export function sentenceOfFactor(error: AuthError): string {
  return sentenceIn(factorSentences, error) ?? sentenceOfSignIn(error)
}

/** A sentence about an error with a new password. */
export function sentenceOfPassword(error: AuthError): string {
  // The message states the project's requirements.
  if (error.code === 'weak_password')
    return `Please choose another password. The server said: ${error.message}`
  return sentenceIn(passwordSentences, error) ?? sentenceOfFactor(error)
}
