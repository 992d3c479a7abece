import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

import type { Sql } from '../database/connection/sql.ts'
import { startPolling } from '../polling.ts'
import { within } from '../within.ts'

/** Milliseconds between two batches of counts. */
const flushInterval = 10_000
/** Milliseconds that a stop waits for the last batch. */
const stopTimeout = 5_000
/** The maximum number of distinct sources in a batch. The database stores at most 200 sources a day. */
const maxSources = 1_000
/** The source of visits whose `from` is no name, or is beyond a limit. */
const other = 'other'

/** With the flags `iu`, the letters `ſ` and `K` (Kelvin) would match `s` and `k`, so `u` is left out. */
const name = /^[a-z0-9_-]{1,40}$/i
/**
 * Words, and URLs, in the `User-Agent` of programs that identify themselves; no browser's has them. They replace a library such
 * as `isbot` with its list of hundreds: programs that pose as browsers cannot be told from people anyway. A Cubot is a phone.
 */
const robot =
  /(?<!cu)bot|crawl|spider|slurp|preview|monitor|headless|whatsapp\/|curl\/|wget\/|python|https?:\/\//i
/** Words in the headers of requests ahead of time, for a page that somebody may never see. */
const ahead = /prefetch|prerender|preview/i

/** Counts visits to the applicants' page in memory, and saves them in batches. Nothing about a person is saved. */
export interface Visits {
  /** Counts a served document. */
  countVisit: (request: Pick<FastifyRequest, 'headers' | 'query'>) => void
  /** Counts a request for the page's script. */
  countStart: (request: Pick<FastifyRequest, 'headers'>) => void
  /** Saves the last batch, or logs that it is lost. */
  stop: () => Promise<void>
}

/**
 * Starts to count visits. A batch that cannot be saved is added to the next one. If it was saved and only the response was
 * lost, its visits count twice.
 *
 * @param sql Queries the database, as the schema's owner.
 */
export function createVisits(sql: Sql, log: Pick<FastifyBaseLogger, 'warn'>): Visits {
  let counts = new Map<string, { visits: number; starts: number }>()
  let isFailing = false

  const add = (source: string, visits: number, starts: number) => {
    const isWithinLimit = source === '' || counts.has(source) || counts.size < maxSources
    const countedSource = isWithinLimit ? source : other
    const former = counts.get(countedSource)
    counts.set(countedSource, {
      visits: (former?.visits ?? 0) + visits,
      starts: (former?.starts ?? 0) + starts,
    })
  }
  const save = async () => {
    if (counts.size === 0) return
    const batch = counts
    counts = new Map()
    try {
      const rows = JSON.stringify([...batch].map(([source, count]) => ({ source, ...count })))
      await sql`select private.count_visits(${rows}::text::jsonb)`
      isFailing = false
    } catch (error) {
      const meanwhile = counts
      counts = batch
      for (const [source, { visits, starts }] of meanwhile) add(source, visits, starts)
      throw error
    }
  }
  const report = (error: unknown) => {
    if (!isFailing) log.warn({ err: error }, 'visits could not be saved: the next try includes them')
    isFailing = true
  }
  const polling = startPolling(save, flushInterval, report)

  return {
    countVisit: ({ headers, query }) => {
      if (isSeen(headers)) add(sourceOf(query), 1, 0)
    },
    countStart: ({ headers }) => {
      if (isSeen(headers)) add('', 0, 1)
    },
    stop: () =>
      within(stopTimeout, polling.stop().then(save), () => new Error('late')).catch((error: unknown) =>
        log.warn({ err: error }, 'the last visits were not saved'),
      ),
  }
}

/**
 * The source of a visit.
 *
 * @param query The parsed query of the page's address.
 * @returns Blank without a `from`, and `other` if `from` is no name.
 */
export function sourceOf(query: unknown): string {
  const from = typeof query === 'object' && query !== null && 'from' in query ? query.from : ''
  if (from === '') return ''
  return typeof from === 'string' && name.test(from) ? from.toLowerCase() : other
}

/** Whether a person probably sees the response: no program that identifies itself made the request, and not ahead of time. */
export function isSeen(headers: FastifyRequest['headers']): boolean {
  const isAhead = [headers['sec-purpose'], headers['purpose']].some((purpose) => ahead.test(String(purpose)))
  return !isAhead && !robot.test(headers['user-agent'] ?? '')
}
