import postgres, { type Sql } from 'postgres'

import { socketConnection } from '../src/server/database/connections.ts'
import { send } from '../testing/client.ts'
import { anApplication } from '../testing/form.ts'
import { freePort } from '../testing/ports.ts'
import { startPostgres } from '../testing/postgres.ts'
import { startServer, temporaryDirectory } from '../testing/server.ts'
import { fill } from './filled-desk.ts'
import { printTable, spread } from './table.ts'

const applications = 100_000
const senders = 4
/** Milliseconds that somebody who got no answer waits before the next attempt. */
const pause = 10
/** Answers that are awaited on either side of an update. */
const around = 200

/** Where a server keeps what it stores, by what it is told. */
interface Place {
  name: string
  settings: Record<string, string>
  /** Connects to it; with the embedded database a server has to run. */
  connect: () => Sql
  remove: () => Promise<unknown>
}

async function embedded(): Promise<Place> {
  const directory = await temporaryDirectory()
  return {
    name: 'embedded database',
    settings: { DATA_DIR: directory.path },
    connect: () => socketConnection(directory.path, { max: 1 }),
    remove: () => directory.remove(),
  }
}

async function byUrl(): Promise<Place> {
  const database = await startPostgres()
  return {
    name: '`DATABASE_URL`',
    settings: { DATABASE_URL: database.url() },
    connect: () => postgres(database.url(), { max: 1 }),
    remove: () => database.close(),
  }
}

/** Sends applications one after the other, each until it is answered, and notes whose were kept, and when. */
function keepSending(origin: string) {
  const kept: { email: string; at: number }[] = []
  let isOver = false
  const waiting = new Set<() => void>()
  const one = async () => {
    while (!isOver) {
      const application = anApplication()
      for (;;) {
        const status = await send(origin, application).catch(() => 0)
        if (status === 201 || status === 409) break
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
      kept.push({ email: application.email, at: performance.now() })
      for (const check of waiting) check()
    }
  }
  const all = Array.from({ length: senders }, one)
  return {
    kept,
    /** Resolves when so many more were kept. */
    more: (count: number) =>
      new Promise<void>((resolve) => {
        const enough = kept.length + count
        const check = () => {
          if (kept.length < enough) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
      }),
    async end() {
      isOver = true
      await Promise.all(all)
    },
  }
}

const newestMigration = (sql: Sql) =>
  sql<{ version: string }[]>`select max(version) as version from supabase_migrations.schema_migrations`

/** Updates a server that has data and visitors from the version that lies in `checkout` to this one. */
async function update({ settings, connect }: Place, checkout: string) {
  const port = await freePort()
  const ofPort = { ...settings, PORT: String(port) }
  const old = await startServer(ofPort, checkout)
  const sql = connect()
  await fill(sql, applications)
  const [before] = await newestMigration(sql)
  await sql.end()
  const sending = keepSending(old.origin)
  await sending.more(around)
  const stopped = performance.now()
  await old.stop()
  const next = await startServer(ofPort)
  const ready = performance.now() - stopped
  await sending.more(around)
  await sending.end()

  const check = connect()
  const [after] = await newestMigration(check)
  const emails = sending.kept.map(({ email }) => email)
  const stored = await check<{ email: string }[]>`
    select email from public.retreat_applications
    where email in (select jsonb_array_elements_text(${check.json(emails)}))`
  const [all] = await check<[{ count: number }]>`select count(*)::int from public.retreat_applications`
  await check.end()
  await next.stop()
  const lost = sending.kept.length - new Set(stored.map(({ email }) => email)).size
  if (lost > 0) throw new Error(`${lost} that were acknowledged are lost`)
  if (all.count !== applications + sending.kept.length) throw new Error(`there are ${all.count} applications`)
  const times = sending.kept.map(({ at }) => at).toSorted((a, b) => a - b)
  const gap = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
  return { gap, ready, kept: sending.kept.length, schema: [before?.version, after?.version] }
}

/** How long nobody is answered while the version in the folder `BESIDE` is replaced by this one, over data. */
export async function benchUpdate(): Promise<void> {
  const { BESIDE: beside } = process.env
  if (!beside) return console.log('\nBESIDE names no other version: no update from it was tried.')
  const rounds = 3
  const rows: string[][] = []
  for (const make of [embedded, byUrl]) {
    const gaps: number[] = []
    const readies: number[] = []
    let kept = 0
    let [name, schema] = ['', '']
    for (let round = 0; round < rounds; round += 1) {
      const place = await make()
      const result = await update(place, beside)
      await place.remove()
      name = place.name
      schema = result.schema.join(' to ')
      gaps.push(result.gap / 1000)
      readies.push(result.ready / 1000)
      kept += result.kept
    }
    rows.push([name, schema, spread(gaps, 2), spread(readies, 2), String(kept), '0'])
  }
  printTable(
    `An update over ${applications.toLocaleString('en')} applications (${rounds} rounds, while applications come in)`,
    ['', 'schema', 'without an answer, s', 'from SIGTERM to ready, s', 'kept meanwhile', 'lost'],
    rows,
  )
}
