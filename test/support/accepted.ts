import type { Rsvp } from '../../src/application/statuses.ts'
import type { Application } from '../../src/application/application.ts'
import { anApplication } from './form.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { valuesOf } from './sql.ts'

/** An applicant who was accepted and has received the letter. */
export interface AcceptedApplicant {
  id: string
  /** The end of the link in their letter. */
  token: string
  /** The deadline of their RSVP. */
  deadline: string
}

/** Stores an accepted applicant who has received the letter and has ten days for the RSVP. */
export async function storeAcceptedApplicant(
  sql: Sql,
  changes: Partial<Application> = {},
): Promise<AcceptedApplicant> {
  const [application] = await sql<[{ id: string; created_at: Date }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name: 'Ada', ...changes }) })}
    returning id, created_at`
  await sql`insert into private.statuses ${valuesOf({ application_id: application.id, created_at: application.created_at, status: 'accepted', version: 1 })}`
  const [invitation] = await sql<[{ token: string; deadline: string }]>`
    update private.invitations set told_at = now() - interval '10 days', deadline = private.today() + 10
    where application_id = ${application.id}
    returning token, deadline::text as deadline`
  return { id: application.id, ...invitation }
}

/** The applicant's RSVPs, the latest first. A repeated request adds no second RSVP. */
export async function rsvpsOf(sql: Sql, { id }: AcceptedApplicant): Promise<Rsvp[]> {
  const rows = await sql<{ answer: Rsvp }[]>`
    select detail ->> 'answer' as answer from private.history
    where application_id = ${id} and kind = 'answer' order by at desc, id desc`
  return rows.map(({ answer }) => answer)
}
