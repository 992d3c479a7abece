import { webhookBody, type Application } from '../../application/application.ts'
import { nextAttempt } from './schedule.ts'
import { wordsOf, type Outbox } from './dispatcher.ts'
import type { Sql } from '../database/sql.ts'

/** What a delivery is about. */
export type Kind = 'application' | 'rsvp'

/** A delivery that this server has claimed. */
export interface Claim {
  /** The same on every try. */
  id: string
  /** Which try this is, from 1. */
  attempt: number
  /** Milliseconds since there was something to deliver, by the database's clock. */
  age: number
  body: URLSearchParams
}

/** Seconds after which another server may claim a delivery again: longer than any try takes. */
const lease = 30

/** What a delivery carries. */
interface Content {
  application: Application & { id: string }
  /** Of an RSVP, and when it was given. */
  rsvp: string
  at: Date
}

const bodies: Record<Kind, (content: Content) => URLSearchParams> = {
  application: ({ application }) => webhookBody(application),
  rsvp: ({ application: { id, email }, rsvp, at }) =>
    new URLSearchParams({ event: 'answer', id, email, answer: rsvp, answeredAt: at.toISOString() }),
}

/** The deliveries of a kind. RSVPs are those that people gave themselves, and those that organisers noted. */
export function outboxOf(kind: Kind): Outbox<Claim> {
  // The automation's replies may quote an applicant's address.
  const logsAnswers = kind === 'application'
  return {
    logsAnswers,
    claimDue: (sql, most) => claim(sql, kind, most),
    async record(sql, { id, attempt, age }, tried) {
      const { delivered, status, text, retryAfter } = tried
      // 410: the receiver is gone and says so.
      const next = delivered || status === 410 ? null : nextAttempt(attempt, age, retryAfter)
      const outcome = delivered ? 'delivered' : next === null ? 'given up' : 'retry'
      const isRecorded = await record(sql, id, attempt, {
        state: states[outcome],
        ...next,
        status,
        reply: delivered ? '' : logsAnswers ? text : wordsOf(tried),
      })
      return isRecorded ? outcome : 'lost'
    },
    /** It is due at once, and the try does not count. */
    async giveBack(sql, { id, attempt }) {
      await record(sql, id, attempt, { state: 'waiting', counts: false })
    },
  }
}

const states = { delivered: 'done', 'given up': 'failed', retry: 'waiting' } as const

async function claim(sql: Sql, kind: Kind, most: number): Promise<Claim[]> {
  const claims = await sql<Omit<Claim, 'body'>[]>`
    select id, attempts as attempt, (extract(epoch from now() - queued_at) * 1000)::float as age
    from private.claim_delivery(${kind}, ${most}, ${lease} * interval '1 second')`
  if (claims.length === 0) return []
  // A statement of its own, which sees the applications that were stored while the first one began.
  const contents = await sql<(Content & { id: string })[]>`
    select delivery.id, row_to_json(application) as application, coalesce(detail ->> 'answer', 'none') as rsvp, at
    from private.deliveries as delivery
      join public.retreat_applications as application on application.id = application_id
      left join private.history on history.id = event_id
    where delivery.id = any(${claims.map(({ id }) => id)}::uuid[])`
  return claims.flatMap((claimed) => {
    const content = contents.find(({ id }) => id === claimed.id)
    // One that is gone was erased meanwhile.
    return content === undefined ? [] : [{ ...claimed, body: bodies[kind](content) }]
  })
}

/** @returns Whether the claim was still this server's. */
async function record(
  sql: Sql,
  id: string,
  attempt: number,
  result: {
    state: 'done' | 'failed' | 'waiting'
    pause?: number
    counts?: boolean
    status?: number | null
    reply?: string
  },
): Promise<boolean> {
  const { state, pause = 0, counts = true, status = null, reply } = result
  const [row] = await sql<[{ recorded: boolean }]>`
    select private.record_delivery(${id}, ${attempt}, ${state}, ${pause} * interval '1 millisecond', ${counts}, ${status},
      -- A NUL is the one character that no text of the database holds.
      ${reply?.replaceAll('\0', '') ?? null}) as recorded`
  return row.recorded
}
