import type { FastifyBaseLogger } from 'fastify'

import { cached } from '../cached.ts'
import type { Sql } from '../database/connection/sql.ts'
import { within } from '../within.ts'

/** Milliseconds for which the database's response is reused. The page may show a change this much later. */
const freshness = 1_000
/** Milliseconds that a page waits for the response. A page with an outdated sentence is better than none. */
const patience = 250

/**
 * Creates a function that says whether applications are open, for a page that must not wait long for the database. The database
 * is queried on demand, at most once a second.
 *
 * @param sql Queries the database, as the schema's owner.
 * @returns A function that returns the last known sentence of the closed form; undefined while applications are open.
 */
export function createDoor(sql: Sql, log: FastifyBaseLogger): () => Promise<string | undefined> {
  let sentence: string | undefined
  const read = cached(async () => {
    try {
      const [door] = await sql<{ sentence: string | null }[]>`
        select public.door_is_open() ->> 'sentence' as sentence`
      sentence = door?.sentence ?? undefined
    } catch (error) {
      log.warn({ err: error }, 'the state of the door could not be read')
    }
  })
  return async () => {
    await within(patience, read(freshness), () => new Error('late')).catch(() => {})
    return sentence
  }
}
