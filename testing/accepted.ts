import type { Answer } from '../src/application/statuses.ts'
import { anApplication } from './form.ts'
import type { Sql } from '../src/server/database/sql.ts'
import { valuesOf } from './sql.ts'

/** Somebody who was accepted and told so. */
export interface Accepted {
  id: string
  /** With which the link in their letter ends. */
  token: string
  /** The last day on which they can answer. */
  until: string
}

/** Stores somebody who was accepted and told so, and has some days to answer. */
export async function acceptSomebody(sql: Sql): Promise<Accepted> {
  const [application] = await sql<[{ id: string; created_at: Date }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name: 'Ada' }) })}
    returning id, created_at`
  await sql`insert into private.statuses ${valuesOf({ application_id: application.id, created_at: application.created_at, status: 'accepted', version: 1 })}`
  const [invitation] = await sql<[{ token: string; until: string }]>`
    update private.invitations set told_at = now(), deadline = private.today() + 10
    where application_id = ${application.id}
    returning token, deadline::text as until`
  return { id: application.id, ...invitation }
}

/** What they answered, the last first, each once however often it was sent. */
export async function answersOf(sql: Sql, { id }: Accepted): Promise<Answer[]> {
  const rows = await sql<{ answer: Answer }[]>`
    select detail ->> 'answer' as answer from private.history
    where application_id = ${id} and kind = 'answer' order by at desc, id desc`
  return rows.map(({ answer }) => answer)
}
