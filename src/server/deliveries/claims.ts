import { webhookBody, type Application } from '../../application/application.ts'
import { recordDelivery, type WebhookKind, type WebhookTry } from './record-result.ts'
import type { Sql } from '../database/connection/sql.ts'

/** A delivery that this server has claimed. Its id is the same on every try. */
export interface Claim extends WebhookTry {
  body: URLSearchParams
}

/** The reason that organisers see if a delivery was not sent because the deadline for the RSVP had passed. */
export const deadlinePassed = 'The last day to answer has passed.'

/** The lease of a claim in seconds, longer than any try takes. After it, another server may claim the delivery. */
const lease = 30

/** The data of a delivery. */
interface Content {
  application: Application & { id: string }
  /** The name or the email of the organiser who added the person; null if the person applied. */
  addedBy: string | null
  /** Only for an RSVP: its value, and when it was given. */
  rsvp: string
  at: Date
  /** Only for a decision: the status, and when it was set. */
  status: string
  decidedAt: Date
  /** The RSVP link, null if the site's address is unknown; and the deadline, as `2026-12-31`. Both are only for an acceptance. */
  link: string | null
  deadline: string | null
  /** Whether it would ask for an RSVP after the deadline. */
  isOverdue: boolean
}

const bodies: Record<WebhookKind, (content: Content) => URLSearchParams> = {
  application({ application, addedBy }) {
    const body = webhookBody(application)
    if (addedBy !== null) body.append('addedBy', addedBy)
    return body
  },
  rsvp: ({ application: { id, email }, rsvp, at }) =>
    new URLSearchParams({ event: 'answer', id, email, answer: rsvp, answeredAt: at.toISOString() }),
  decision: ({ application: { id, email }, status, decidedAt, link, deadline }) =>
    new URLSearchParams({
      id,
      email,
      status,
      decidedAt: decidedAt.toISOString(),
      ...(link !== null && { answerLink: link }),
      ...(deadline !== null && { replyBy: deadline }),
    }),
}

/**
 * Claims deliveries of a kind that are due, for this server alone. RSVPs include those that organisers entered for applicants. An
 * acceptance whose deadline has passed fails without being sent.
 */
export async function claimDue(sql: Sql, kind: WebhookKind, most: number): Promise<Claim[]> {
  const claims = await sql<Omit<Claim, 'body'>[]>`
    select id, kind, attempts as attempt, (extract(epoch from now() - queued_at) * 1000)::float as age
    from private.claim_delivery(${kind}, ${most}, ${lease} * interval '1 second')`
  if (claims.length === 0) return []
  const contents = await contentsOf(
    sql,
    kind,
    claims.map(({ id }) => id),
  )
  const due: Claim[] = []
  for (const claimed of claims) {
    const content = contents.find(({ id }) => id === claimed.id)
    // Without content: the application was erased meanwhile.
    if (content === undefined) continue
    if (content.isOverdue) await recordDelivery(sql, claimed, { state: 'failed', reply: deadlinePassed })
    else due.push({ ...claimed, body: bodies[kind](content) })
  }
  return due
}

/** Reads the contents after the claim, in other statements: one for both could miss an application that is stored meanwhile. */
async function contentsOf(sql: Sql, kind: WebhookKind, ids: string[]): Promise<(Content & { id: string })[]> {
  if (kind !== 'decision') return sql`${selectStored(sql, ids)}`
  const contents = []
  // One at a time, to avoid a deadlock with an organiser whose decisions lock the invitations of several people.
  for (const id of ids)
    contents.push(...(await sql<(Content & { id: string })[]>`${selectDecision(sql, id)}`))
  return contents
}

/** Selects the contents of applications or RSVPs. */
function selectStored(sql: Sql, ids: string[]) {
  return sql`
    select delivery.id, row_to_json(application) as application, private.adder(application) as "addedBy",
      coalesce(detail ->> 'answer', 'none') as rsvp, at,
      false as "isOverdue"
    from private.deliveries as delivery
      join public.retreat_applications as application on application.id = coalesce(application_id, delivery.id)
      left join private.history on history.id = event_id
    where delivery.id = any(${ids}::uuid[])`
}

/** Selects the content of a decision. For an acceptance, this also sets the deadline of the invitation. */
function selectDecision(sql: Sql, id: string) {
  return sql`
    select delivery.id, row_to_json(application) as application, template as status,
      -- Another decision may be current.
      case when statuses.status = template then set_at else queued_at end as "decidedAt",
      invitation.link, invitation.deadline::text as deadline,
      private.is_overdue(delivery) as "isOverdue"
    from private.deliveries as delivery
      join public.retreat_applications as application on application.id = delivery.application_id
      join private.letters as letter on letter.id = letter_id
      left join private.statuses on statuses.application_id = application.id
      -- The case skips the call for other decisions. A condition of the join would be checked only after the call.
      left join lateral private.set_deadline_at_handover(
        case when template = 'accepted' then application.id end) as invitation on true
    where delivery.id = ${id}`
}
