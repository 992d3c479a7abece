import { startLoad } from '../test/support/load.ts'
import { freePort } from '../test/support/ports.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { fill } from './filled-desk.ts'
import { printTable, spread } from './table.ts'
import type { Pool } from '../src/server/database/connection/pool.ts'
import type { Sql } from '../src/server/database/connection/sql.ts'
import { connectTo, connectToEmbedded } from '../test/support/sql.ts'

const applications = 100_000
/** The number of responses to wait for before an update and after it. */
const responsesAround = 200

/** A database for a server, and the settings that name it. */
interface DatabaseTarget {
  name: string
  settings: Record<string, string>
  /** Connects to the database. The embedded database runs only while a server runs. */
  connect: () => Pool
  remove: () => Promise<unknown>
}

async function embeddedTarget(): Promise<DatabaseTarget> {
  const directory = await temporaryDirectory()
  return {
    name: 'embedded database',
    settings: { DATA_DIR: directory.path },
    connect: () => connectToEmbedded(directory.path),
    remove: () => directory.remove(),
  }
}

async function urlTarget(): Promise<DatabaseTarget> {
  const database = await startPostgres()
  return {
    name: '`DATABASE_URL`',
    settings: { DATABASE_URL: database.url() },
    connect: () => connectTo(database.url()),
    remove: () => database.close(),
  }
}

const newestMigration = (sql: Sql) =>
  sql<{ version: string }[]>`select max(version) as version from supabase_migrations.schema_migrations`

/** Updates a server from the version in `checkout` to this one, with data in its database and while visitors apply. */
async function update({ settings, connect }: DatabaseTarget, checkout: string) {
  const port = await freePort()
  const settingsWithPort = { ...settings, PORT: String(port) }
  const old = await startServer(settingsWithPort, checkout)
  const sql = connect()
  await fill(sql, applications)
  const [migrationBefore] = await newestMigration(sql)
  await sql.end()
  const sending = startLoad(old.origin)
  const { acknowledged, times } = sending
  await sending.waitUntil(() => acknowledged.length >= responsesAround)
  const stopped = performance.now()
  await old.stop()
  const next = await startServer(settingsWithPort)
  const ready = performance.now() - stopped
  const enough = acknowledged.length + responsesAround
  await sending.waitUntil(() => acknowledged.length >= enough)
  await sending.end()

  const check = connect()
  const [migrationAfter] = await newestMigration(check)
  const stored = await check<{ email: string }[]>`
    select email from public.retreat_applications
    where email = any(${acknowledged})`
  await check.end()
  await next.stop()
  if (stored.length !== acknowledged.length) {
    throw new Error(`Of ${acknowledged.length} acknowledged applications only ${stored.length} are stored.`)
  }
  const gap = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
  return {
    gap,
    ready,
    acknowledgedCount: acknowledged.length,
    schema: `${migrationBefore?.version} to ${migrationAfter?.version}`,
  }
}

/** Measures the time without responses while this version replaces the version in the folder that `BESIDE` names, with data. */
export async function benchUpdate(): Promise<void> {
  const { BESIDE: beside } = process.env
  if (!beside) return console.log('\nBESIDE names no other version: no update from it was tried.')
  const rounds = 3
  const rows: string[][] = []
  for (const createTarget of [embeddedTarget, urlTarget]) {
    const gaps: number[] = []
    const readyTimes: number[] = []
    let acknowledgedCount = 0
    let [name, schema] = ['', '']
    for (let round = 0; round < rounds; round += 1) {
      const target = await createTarget()
      const result = await update(target, beside)
      await target.remove()
      name = target.name
      schema = result.schema
      gaps.push(result.gap / 1000)
      readyTimes.push(result.ready / 1000)
      acknowledgedCount += result.acknowledgedCount
    }
    rows.push([name, schema, spread(gaps, 2), spread(readyTimes, 2), String(acknowledgedCount)])
  }
  printTable(
    `An update over ${applications.toLocaleString('en')} applications (${rounds} rounds, while applications are sent)`,
    ['database', 'schema', 'without a response, s', 'from SIGTERM to ready, s', 'acknowledged, none lost'],
    rows,
  )
}
