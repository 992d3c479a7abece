import type { Sql } from 'postgres'

import { openDatabase } from '../server/database/database.ts'
import { runProgram } from '../server/operator-error.ts'
import { readSettings } from '../server/settings.ts'
import { readOptions } from './options.ts'

const usage = `Usage: npm run webhooks -- [option]

  (none)           counts the deliveries to the webhook
  --retry          tries those again that were given up`

async function main() {
  const options = readOptions({ retry: { type: 'boolean' } }, usage)
  if (options === undefined) return
  const database = await openDatabase(readSettings())
  try {
    if (options.retry) await retry(database.owner)
    else await count(database.owner)
  } finally {
    await database.close()
  }
}

/** Makes what was given up due again, from the schedule's beginning; a running server sees it within a second. */
async function retry(sql: Sql) {
  const { count: retried } = await sql`
    update private.webhook_outbox set attempts = 0, next_attempt_at = now()
    where next_attempt_at is null and delivered_at is null`
  console.log(`${retried} given-up ${retried === 1 ? 'delivery' : 'deliveries'} will be tried again.`)
}

async function count(sql: Sql) {
  const [row] = await sql<{ delivered: string; waiting: string; failing: string; given_up: string }[]>`
    select
      count(delivered_at) as delivered,
      count(*) filter (where next_attempt_at is not null and attempts = 0) as waiting,
      count(*) filter (where next_attempt_at is not null and attempts > 0) as failing,
      count(*) filter (where next_attempt_at is null and delivered_at is null) as given_up
    from private.webhook_outbox`
  if (!row) return
  console.log(`delivered             ${row.delivered}`)
  console.log(`waiting               ${row.waiting}`)
  console.log(`failed, tried again   ${row.failing}`)
  console.log(`given up              ${row.given_up}`)
}

await runProgram(main)
