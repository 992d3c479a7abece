import { webhookBody, type Application } from '../../application/application.ts'
import { nextAttempt } from './schedule.ts'
import type { DeliveryResult } from './webhook.ts'
import { outcomeOf, type Outcome } from './worker.ts'
import { recordHeartbeat, recordDelivery, type DeliveryTry } from './record.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The event that a delivery reports. */
export type Kind = 'application' | 'rsvp' | 'decision'

/** A delivery that this server has claimed. Its id is the same on every try. */
export interface Claim extends DeliveryTry {
  /** Milliseconds since it was queued, by the database's clock. */
  age: number
  body: URLSearchParams
}

/** The deliveries of one kind. */
export interface Outbox {
  /** Whether the receiver's responses are logged. */
  logsReplies: boolean
  /** Claims at most `max` deliveries that are due. */
  claimDue: (sql: Sql, max: number) => Promise<Claim[]>
  /** Records the result of a try. */
  record: (sql: Sql, claim: Claim, result: DeliveryResult) => Promise<Outcome>
  /** Gives back a claim whose try was aborted. `isUncertain`: the receiver may have got the delivery. */
  giveBack: (sql: Sql, claim: Claim, isUncertain: boolean | undefined) => Promise<void>
  /** Periodic upkeep, if any. */
  upkeep?: (sql: Sql) => Promise<void>
}

/** The reason that organisers see if a delivery was not sent because the deadline for the RSVP had passed. */
export const deadlinePassed = 'The last day to answer has passed.'

/** The lease of a claim in seconds, longer than any try takes. After it, another server may claim the delivery. */
const lease = 30

/** The data of a delivery. */
interface Content {
  application: Application & { id: string }
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

const bodies: Record<Kind, (content: Content) => URLSearchParams> = {
  application: ({ application }) => webhookBody(application),
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

/** The deliveries of a kind. RSVPs include those that organisers entered for applicants. */
export function outboxOf(kind: Kind): Outbox {
  // Replies of an automation are not logged, because they may quote an applicant's address.
  const logsReplies = kind === 'application'
  return {
    logsReplies,
    claimDue: (sql, max) => claim(sql, kind, max),
    async record(sql, claimed, result) {
      const { delivered, status, text, isUncertain = false, retryAfter } = result
      // 410 means that the receiver is permanently gone.
      const isRefused = status === 410
      const next = delivered || isRefused ? null : nextAttempt(claimed.attempt, claimed.age, retryAfter)
      const state = await recordDelivery(sql, claimed, {
        state: delivered ? 'done' : next === null ? 'failed' : 'waiting',
        ...next,
        status,
        reply: delivered ? '' : logsReplies ? text : describeResult(result),
        isRefused,
        ...(!delivered && { isUncertain }),
      })
      return outcomeOf(state)
    },
    /** The delivery is due at once, and the try does not count. */
    async giveBack(sql, claimed, isUncertain = false) {
      await recordDelivery(sql, claimed, { state: 'waiting', counts: false, isUncertain })
    },
    ...(kind === 'decision' && { upkeep: (sql: Sql) => recordHeartbeat(sql, 'automation') }),
  }
}

/** The result of a try, in a sentence for organisers, without any text of the response. */
function describeResult({ status, isUncertain = false }: DeliveryResult): string {
  if (status !== null) return `HTTP ${status}`
  return isUncertain ? 'No response.' : 'No connection was made.'
}

/** Claims deliveries that are due. An acceptance whose deadline has passed fails without being sent. */
async function claim(sql: Sql, kind: Kind, max: number): Promise<Claim[]> {
  const claims = await sql<Omit<Claim, 'body'>[]>`
    select id, attempts as attempt, (extract(epoch from now() - queued_at) * 1000)::float as age
    from private.claim_delivery(${kind}, ${max}, ${lease} * interval '1 second')`
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
async function contentsOf(sql: Sql, kind: Kind, ids: string[]): Promise<(Content & { id: string })[]> {
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
    select delivery.id, row_to_json(application) as application, coalesce(detail ->> 'answer', 'none') as rsvp, at,
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
