import { claimMail, type LetterClaim } from '../src/server/letters/claims.ts'
import type { NoticeClaim } from '../src/server/letters/notices.ts'
import type { Sql } from '../src/server/database/sql.ts'

/** The pace: milliseconds between two emails. */
interface PaceOptions {
  pause?: number
}

/** Claims the letter that has waited longest. Ignores other emails. */
export const claimLetter = async (sql: Sql, options: PaceOptions = {}) =>
  (await claimMail(sql, { ...options, kinds: ['letter'] })) as LetterClaim | undefined

/** The same for a receipt. */
export const claimReceipt = async (sql: Sql, options: PaceOptions = {}) =>
  (await claimMail(sql, { ...options, kinds: ['receipt'] })) as LetterClaim | undefined

/** The same for a notice to an organiser. */
export const claimNotice = async (sql: Sql) =>
  (await claimMail(sql, { kinds: ['notice'] })) as NoticeClaim | undefined

/** The same for a test of a letter. */
export const claimTest = async (sql: Sql) =>
  (await claimMail(sql, { kinds: ['test'] })) as NoticeClaim | undefined
