import { execFile, spawn } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { startLoad } from '../test/support/load.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { connectToEmbedded } from '../test/support/sql.ts'
import { printTable } from './table.ts'

const applicationCount = 1_000_000
/** The number of applications that arrive between the update and the way back. */
const since = 20

const columns =
  'first_name,last_name,email,phone,linkedin,company,paid_solution,custom_solution,team_size,reason,consent'

/** Stores applications by columns that all releases have, every tenth with a decision. Triggers do not run meanwhile. */
async function fill(dataDir: string) {
  const sql = connectToEmbedded(dataDir)
  await sql.unsafe(`
    set session_replication_role = replica;
    insert into public.retreat_applications (
      id, created_at, first_name, last_name, email, phone, linkedin, company, paid_solution, team_size, reason, consent)
    select md5('a' || n)::uuid, now() - (${applicationCount} + 1 - n) * interval '20 seconds', 'Ada', 'Lovelace ' || n,
      'ada.' || n || '@example.com', '+44 (20) 7946 0958', 'in/ada', 'Analytical Engines', 'travel', '3-10',
      'To think. Without a screen. ' || n, true
    from generate_series(1, ${applicationCount}) as n;
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, 'declined', 1 from public.retreat_applications where get_byte(uuid_send(id), 0) % 10 = 0;
    reset session_replication_role`)
  await sql`vacuum analyze`
  await sql`checkpoint`
  await sql.end()
}

async function countApplications(dataDir: string) {
  const sql = connectToEmbedded(dataDir)
  const [row] = await sql<[{ n: number }]>`select count(*)::int as n from public.retreat_applications`
  await sql.end()
  return row.n
}

/** Reads all applications by the operator's command. Returns the first lines, which have the newest. */
async function newestLines(dataDir: string, count: number): Promise<string[]> {
  const { stdout } = spawn(process.execPath, ['start.js', 'applications', '--json'], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const newest: string[] = []
  for await (const line of createInterface({ input: stdout })) if (newest.length < count) newest.push(line)
  return newest
}

/** Runs a step. Returns its result and how long it took in seconds. */
async function timed<Result>(step: () => Promise<Result>): Promise<[Result, number]> {
  const began = performance.now()
  const result = await step()
  return [result, (performance.now() - began) / 1000]
}

/**
 * Measures the update from the version in the folder that `BESIDE` names with 1,000,000 applications, and then the way back by the
 * steps of operate.md: restore, start, read what came since, and send it again.
 *
 * @throws {Error} An application was lost.
 */
export async function benchWayBack(): Promise<void> {
  const { BESIDE: beside } = process.env
  if (!beside) return console.log('\nBESIDE names no other version: no way back to it was tried.')
  const directory = await temporaryDirectory()
  const [dataDir, backups, restored] = ['data', 'backups', 'restored'].map((name) =>
    join(directory.path, name),
  ) as [string, string, string]
  await mkdir(backups)
  const first = await startServer({ DATA_DIR: dataDir }, beside)
  await fill(dataDir)
  await first.stop()

  const [updated, updateSeconds] = await timed(() => startServer({ DATA_DIR: dataDir, BACKUP_DIR: backups }))
  const load = startLoad(updated.origin)
  await load.waitUntil(() => load.acknowledged.length >= since)
  await load.end()
  await updated.stop()

  const [backup = ''] = (await readdir(backups)).filter((name) => name.startsWith('unplugged-'))
  const [, restoreSeconds] = await timed(() =>
    promisify(execFile)(process.execPath, ['start.js', 'restore', '--from', join(backups, backup)], {
      cwd: beside,
      env: { ...process.env, DATA_DIR: restored },
    }),
  )
  const [former, startSeconds] = await timed(() => startServer({ DATA_DIR: restored }, beside))
  const [later, readSeconds] = await timed(() => newestLines(dataDir, load.acknowledged.length))
  for (const line of later.toReversed()) {
    await fetch(`${former.origin}/rest/v1/retreat_applications?columns=${columns}`, {
      method: 'POST',
      headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
      body: line,
    })
  }
  const stored = await countApplications(restored)
  const { version } = JSON.parse(await readFile(join(beside, 'package.json'), 'utf8')) as { version: string }
  await former.stop()
  await directory.remove()
  const sent = load.acknowledged.length
  if (stored !== applicationCount + sent)
    throw new Error(`${stored} applications are stored, not ${applicationCount + sent}.`)
  printTable(
    `An update from ${version} with ${applicationCount.toLocaleString('en')} applications, and the way back with ${sent} that came since`,
    ['backup and update, s', 'restore, s', 'start, s', 'reading all, s', 'stored'],
    [
      [
        updateSeconds.toFixed(1),
        restoreSeconds.toFixed(1),
        startSeconds.toFixed(1),
        readSeconds.toFixed(1),
        stored.toLocaleString('en'),
      ],
    ],
  )
}
