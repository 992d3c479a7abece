import type { Application } from '../../application/application.ts'
import type { OrganiserWork } from '../../application/csv.ts'
import { inBatches, type Sql } from '../../server/database/connection/sql.ts'

/** The state of one application's delivery; all null if no delivery was queued. */
interface Delivery {
  attempts: number | null
  next_attempt_at: Date | null
  delivered_at: Date | null
  last_status: number | null
}

/** A stored application with the state of its delivery. */
export type StoredApplication = Application & Delivery & { id: string; created_at: Date; edition?: number }

/** The beginning of queries for applications with their deliveries. `moment` is the exact time, since a Date has only milliseconds. */
const queryWithDeliveries = `
  select application.*, created_at::text as moment,
    due_at as next_attempt_at, done_at as delivered_at, attempts, reply_status as last_status
  from public.retreat_applications as application left join private.deliveries as delivery on delivery.id = application.id`

/** Yields all applications, the newest first, in batches of `batch` rows. Needs a transaction. */
export async function* applicationsWithDeliveries(
  sql: Sql,
  batch: number,
): AsyncGenerator<StoredApplication[]> {
  yield* inBatches<StoredApplication>(
    sql,
    `${queryWithDeliveries} order by created_at desc, application.id desc`,
    batch,
  )
}

/** An application, and what organisers recorded about it. */
export type ApplicationRow = StoredApplication & Partial<OrganiserWork> & { status?: string }

/**
 * Adds what organisers recorded about each application.
 *
 * @param batches Applications in batches.
 */
export async function* withDeskColumns(
  sql: Sql,
  batches: AsyncIterable<StoredApplication[]>,
): AsyncGenerator<ApplicationRow[]> {
  for await (const batch of batches) {
    const ids = batch.map(({ id }) => id)
    const rows = await sql<{ id: string; status: string; made: OrganiserWork }[]>`
      select application_id as id, made,
        -- A subquery per row: the planner overestimates a function's rows, and a join would read all statuses.
        coalesce((
          select status from private.statuses where statuses.application_id = made_of.application_id
        ), 'new') as status
      from private.made_of(${ids})`
    const workById = new Map(rows.map((row) => [row.id, { status: row.status, ...row.made }]))
    yield batch.map((application) => ({ ...application, ...workById.get(application.id) }))
  }
}

/** The number of applications. */
export async function countApplications(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*)::int as count from public.retreat_applications`
  return row.count
}

/**
 * Yields all applications, in batches of `batch` rows, for a person who may read them for hours. Each batch is its own
 * statement: nothing is locked between two batches, and the database's time limits apply only to each batch.
 *
 * @param newest Whether the newest come first or last.
 */
export async function* applicationsForPager(
  sql: Sql,
  batch: number,
  newest: 'first' | 'last',
): AsyncGenerator<StoredApplication[]> {
  const [beyond, order] = newest === 'first' ? ['<', 'desc'] : ['>', 'asc']
  const query = `${queryWithDeliveries}
    where (created_at, application.id) ${beyond} ($1::timestamptz, $2::uuid)
    order by created_at ${order}, application.id ${order} limit ${batch}`
  // The position after which the next batch begins.
  let cursor = {
    moment: newest === 'first' ? 'infinity' : '-infinity',
    id: '00000000-0000-0000-0000-000000000000',
  }
  for (;;) {
    const rows = await sql.unsafe<(StoredApplication & { moment: string })[]>(query, [
      cursor.moment,
      cursor.id,
    ])
    const lastRow = rows.at(-1)
    if (lastRow === undefined) return
    yield rows
    cursor = lastRow
  }
}
