import { defaultLook } from '../../src/design/look.ts'
import { claimMail, type LetterClaim } from '../../src/server/letters/claims.ts'
import type { NoticeClaim } from '../../src/server/letters/notices.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'

const defaults = { site: new URL('https://example.org'), siteTitle: defaultLook.title }

/** The pace: milliseconds between two emails. */
interface PaceOptions {
  pause?: number
}

/** Claims the letter that has waited longest. Ignores other emails. */
export const claimLetter = async (sql: Sql, options: PaceOptions = {}) =>
  (await claimMail(sql, { ...defaults, ...options, kinds: ['letter'] })) as LetterClaim | undefined

/** Claims the receipt that has waited longest. */
export const claimReceipt = async (sql: Sql, options: PaceOptions = {}) =>
  (await claimMail(sql, { ...defaults, ...options, kinds: ['receipt'] })) as LetterClaim | undefined

/** Claims the notice to an organiser that has waited longest. */
export const claimNotice = async (sql: Sql) =>
  (await claimMail(sql, { ...defaults, kinds: ['notice'] })) as NoticeClaim | undefined

/** Claims the test email that has waited longest. */
export const claimTest = async (sql: Sql) =>
  (await claimMail(sql, { ...defaults, kinds: ['test'] })) as NoticeClaim | undefined
