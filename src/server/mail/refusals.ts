import type { HandoverResult } from './handover.ts'

/** What a refusal is about: this `email`, `all` emails, or either (`unclear`). */
export type Blame = 'email' | 'all' | 'unclear'

/**
 * The enhanced status codes, without their class, that are surely about this email: its recipient, their mailbox, or its size.
 *
 * @see https://www.iana.org/assignments/smtp-enhanced-status-codes
 */
const ofEmail = /^(1\.(1|2|3|6|10)|2\.\d+|3\.4)$/

/**
 * The enhanced status codes that are surely about all emails: our sender (1.7, 1.8, 7.27), a quota (4.5, 7.28), the mail server
 * itself (3), the dialogue with it (5), our sign-in (7.8 to 7.12, 7.14), and what proves our sender (7.20 to 7.26, 7.29).
 */
const ofAll = /^(1\.[78]|3\.\d+|4\.5|5\.\d+|7\.(8|9|10|11|12|14|2[0-9]))$/

/**
 * A deferral of each new recipient for some minutes, by its usual name. As a refusal of all, each probe would be another new
 * recipient, and the first would have to wait for all others.
 */
const greylisting = /^4.*gr[ae]y.?list/i

/** The replies that ask for a sign-in or do not accept it, whatever their enhanced code (RFC 4954). */
const signInCodes: readonly (number | null)[] = [432, 454, 530, 534, 535, 538]

/**
 * Decides what a refusal is about. Most mail servers use 5.7.1, or no enhanced code, for recipients, texts, quotas and senders
 * alike. Only the next email shows what such a refusal is about, and so does a broken connection.
 */
export function blameOf({ code, reply }: Extract<HandoverResult, { reply: string }>): Blame {
  if (signInCodes.includes(code)) return 'all'
  if (greylisting.test(reply)) return 'email'
  const status = /^\d{3}[ -][45]\.(\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? ''
  if (ofEmail.test(status)) return 'email'
  return ofAll.test(status) ? 'all' : 'unclear'
}

/** The mail server's words without email addresses, for organisers who read blind and for monitoring. */
export function withoutAddresses(reply: string): string {
  return reply.replaceAll(/\S*(@|%40)\S*/gi, '(address)')
}
