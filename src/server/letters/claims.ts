import { calendarFileOf, type Retreat } from '../../application/calendar.ts'
import { deadlinePassed } from '../deliveries/claims.ts'
import { recordDelivery } from '../deliveries/record-result.ts'
import type { Message } from '../mail/compose.ts'
import type { NoticeClaim } from './notices.ts'
import { uncertainReason, maxUncertainTries, type MailTry } from './outcomes.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The words of the button in a letter to somebody who has answered, as on the page that it leads to. */
const changeLabel = 'Change my answer'

/** The kinds of emails. */
export type MailKind = 'test' | 'letter' | 'notice' | 'receipt'

/** A claimed email to an applicant. */
export interface LetterClaim extends Omit<Message, 'why'>, MailTry {
  kind: 'letter' | 'receipt'
  /** Whether an organiser added the applicant by hand, and the organiser's name; null if they have none. */
  is_added: boolean
  added_by: string | null
}

/** A claimed email: a letter, a receipt, a notice or a test. */
export type MailClaim = LetterClaim | NoticeClaim

/** The state of a claimed letter or receipt. */
interface LetterState {
  /** Whether the deadline in it has passed, or its link has no more use. */
  is_overdue: boolean
  /** Whether the lease of an earlier claim expired without a result. */
  was_sending: boolean
  /** Whether it is a confirmation to somebody who is coming. */
  is_confirmation: boolean
  /** Only for a confirmation: the retreat, if its days are set. */
  retreat: Retreat | null
}

/**
 * Claims the next due email, for this server alone: tests first, then letters, notices and receipts. Claims nothing while
 * organisers have stopped all emails, or a problem or a limit delays them. If a letter's deadline or link is over, or too many
 * tries had an unknown result, the letter fails and the next email is claimed.
 *
 * @param options.site The public address, to which the calendar's event links.
 * @param options.siteTitle The page's title. It names the calendar's event if the edition has no name.
 * @param options.pause Milliseconds between two emails, over all servers; default none.
 * @param options.kinds The kinds to claim; default all.
 */
export async function claimMail(
  sql: Sql,
  {
    site,
    siteTitle,
    pause = null,
    kinds = ['test', 'letter', 'notice', 'receipt'],
  }: { site: URL; siteTitle: string; pause?: number | null | undefined; kinds?: MailKind[] },
): Promise<MailClaim | undefined> {
  for (;;) {
    const [row] = await sql<[{ mail: NoticeClaim | (LetterClaim & LetterState) | null }]>`
      select private.claim_mail(${pause}::float * interval '1 millisecond', ${kinds}::text[]) as mail`
    if (row.mail === null) return undefined
    if ('says' in row.mail) return row.mail
    const {
      is_overdue: isOverdue,
      was_sending: wasSending,
      is_confirmation: isConfirmation,
      retreat,
      ...claim
    } = row.mail
    if (wasSending && claim.uncertain >= maxUncertainTries) {
      await recordDelivery(sql, claim, { state: 'failed', reply: uncertainReason })
    } else if (isOverdue) await recordDelivery(sql, claim, { state: 'failed', reply: deadlinePassed })
    else {
      return {
        ...claim,
        ...(isConfirmation && { button: changeLabel }),
        // Nobody should press a button in a receipt without reading what it does.
        ...(claim.kind === 'receipt' && { button: null }),
        ...(retreat && { calendar: calendarFileOf(retreat, siteTitle, site.href, new Date()) }),
      }
    }
  }
}
