import type { FastifyBaseLogger } from 'fastify'

import { cached } from '../cached.ts'
import type { Sql } from '../database/sql.ts'
import { within } from '../within.ts'

/** Milliseconds for which an answer of the database is good, and after which a change shows on the page. */
const freshness = 1_000
/** Milliseconds that a page waits for the answer: a form without the newest sentence is better than none. */
const patience = 250

/**
 * Whether applications are taken, for a page that must not wait for the database: asked at most once a second, and
 * only when somebody wants to know.
 *
 * @param sql Asks the database, as the schema's owner.
 * @returns The sentence of the closed door, as it was read last; nothing while applications are taken.
 */
export function createDoor(sql: Sql, log: FastifyBaseLogger): () => Promise<string | undefined> {
  let told: string | undefined
  const read = cached(async () => {
    try {
      const [door] = await sql<{ sentence: string | null }[]>`
        select public.door_is_open() ->> 'sentence' as sentence`
      told = door?.sentence ?? undefined
    } catch (error) {
      log.warn({ err: error }, 'whether the door is open is not known')
    }
  })
  return async () => {
    await within(patience, read(freshness), () => new Error('late')).catch(() => {})
    return told
  }
}
