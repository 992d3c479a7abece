import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'

import type { Sql } from '../../src/server/database/sql.ts'
import { extent, seed as firstSeed } from '../../testing/extent.ts'
import { freePort } from '../../testing/ports.ts'
import { postmasterOf } from '../../testing/postmaster.ts'
import { startPostgres } from '../../testing/postgres.ts'
import { randomFrom } from '../../testing/random.ts'
import { dataDirectory, startServer } from '../../testing/server.ts'
import { connectToFiles } from '../../testing/sql.ts'
import { until } from '../../testing/until.ts'
import { startCalls, addOrganisers, type CallLoad } from './callers.ts'
import { aftermath, judge } from './verdicts.ts'

/** The number of times that a server loses its connections. By default once in each way, and more in a long run. */
const givenRounds = process.env['CUT_ROUNDS']

/** After a cut: milliseconds until calls of every kind are served, and milliseconds until the test stops waiting. */
const [mostBack, patience] = [2_000, 20_000]
/** Log lines of errors that nothing caught, or only the last catch. */
const uncaught = /^.*(uncaught|unhandled|(Type|Range|Reference)Error).*$/gim
/** The largest share of failed calls among those outside a cut. */
const mostUnserved = 0.001

/** A way to lose connections. Resolves when the database is reachable again. */
type Cut = (random: () => number, callers: CallLoad) => Promise<unknown>

/** Resolves after this many more calls. */
function waitForCalls(callers: CallLoad, count: number) {
  const { calls } = callers
  const enough = calls.length + count
  return callers.waitUntil(() => calls.length >= enough)
}

/**
 * Cuts a server's connections while people use it, each time in another of these ways.
 *
 * @returns The wrong outcomes, except short periods of 503, in sentences.
 */
async function problemsAfterCuts(settings: Record<string, string>, sql: Sql, ways: Record<string, Cut>) {
  const serverSettings = { ...settings, PORT: String(await freePort()), TRUST_PROXY: '1' }
  let server = await startServer(serverSettings)
  let exited = once(server.process, 'exit')
  const hasEnded = () => server.process.exitCode !== null || server.process.signalCode !== null
  const callers = startCalls(server.origin, await addOrganisers(sql, server.origin))
  const { calls, kinds, acknowledged } = callers
  const reached = (condition: () => boolean) => callers.waitUntil(() => hasEnded() || condition())

  const all = Object.entries(ways)
  const rounds = Number(givenRounds ?? extent(1, 20) * all.length)
  const problems: string[] = []
  const total = { outside: 0, unserved: 0, back: 0 }
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
    const random = randomFrom(seed)
    const [name, lose] = all[seed % all.length] ?? []
    const logged = server.output().length
    await waitForCalls(callers, 50 + Math.floor(random() * 200))
    const began = performance.now()
    await Promise.race([lose?.(random, callers), exited])
    const cut = { began, ended: performance.now() }
    await reached(() => performance.now() > cut.ended + aftermath)
    await waitForCalls(callers, 100)
    const isBack = () => judge(calls, cut, kinds).back.after < Infinity
    await reached(() => isBack() || performance.now() > cut.ended + patience)

    const verdict = judge(calls.splice(0), cut, kinds)
    const of = `SEED=${seed}, ${name}: `
    problems.push(...verdict.wrong.map((wrong) => of + wrong))
    problems.push(...(server.output().slice(logged).match(uncaught) ?? []).map((line) => of + line))
    if (hasEnded()) {
      problems.push(`${of}the server ended`)
      server = await startServer(serverSettings)
      exited = once(server.process, 'exit')
    } else {
      const { of: kind, after } = verdict.back
      total.outside += verdict.outside
      total.unserved += verdict.unserved
      total.back = Math.max(total.back, after)
      if (after > mostBack) problems.push(`${of}${kind} is served again after ${Math.round(after)} ms`)
    }
  }
  await callers.end()
  const { outside, unserved, back } = total
  console.log(
    `Unserved outside a cut's second: ${unserved} of ${outside}. Served again within ${Math.round(back)} ms.`,
  )
  if (unserved > outside * mostUnserved)
    problems.push(`${unserved} of ${outside} calls were not served outside a cut's second`)
  const stored = await sql<{ email: string }[]>`select email from public.retreat_applications`
  const emails = new Set(stored.map(({ email }) => email))
  if (stored.length > emails.size)
    problems.push(`${stored.length - emails.size} applications are stored twice`)
  problems.push(...acknowledged.filter((email) => !emails.has(email)).map((email) => `${email} is lost`))
  const code = await server.stop()
  return code === 0 ? problems : [...problems, `the server ended with ${code}`]
}

test('no lost connection to an external database gives a wrong response', async () => {
  const postgres = await startPostgres('database')
  const problems = await problemsAfterCuts({ DATABASE_URL: postgres.url() }, postgres.admin, {
    ended: async () => postgres.closeConnections('FIN'),
    reset: async () => postgres.closeConnections('RST'),
    'cut inside a row': async (random, callers) => {
      // A single connection as often as many. Half of the cuts are near the end of the result, after the last row.
      let left = Math.ceil(2 ** (random() * 4))
      const inside = (length: number) => Math.floor(length - random() * (random() < 0.5 ? length : 24))
      const spare = postgres.closeInsideData((length) => (left-- > 0 ? inside(length) : length))
      await waitForCalls(callers, 50)
      spare()
    },
    'frozen, then ended': async (random) => {
      postgres.freeze()
      await wait(random() * 1_000)
      postgres.closeConnections('FIN')
      postgres.thaw()
    },
    killed: (random) => postgres.killAndRestart(random() < 0.5 ? 'SIGQUIT' : 'SIGKILL'),
  })
  await postgres.close()
  expect(problems).toEqual([])
}, 7_200_000)

test('no loss of the embedded database gives a wrong response', async () => {
  const directory = await dataDirectory()
  const sql = connectToFiles(directory.path)
  const kill = async (signal: NodeJS.Signals) => {
    const pid = await postmasterOf(directory.path)
    if (pid === undefined) throw new Error('There is no database to be killed.')
    process.kill(pid, signal)
    const isBack = async () => {
      const another = await postmasterOf(directory.path)
      return another !== undefined && another !== pid && (await sql`select 1`).length === 1
    }
    await until('the database', isBack)
  }
  const problems = await problemsAfterCuts({ DATA_DIR: directory.path }, sql, {
    terminated: async () => sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    'killed by SIGQUIT': () => kill('SIGQUIT'),
    'killed by SIGKILL': () => kill('SIGKILL'),
  })
  await sql.end(1_000)
  await directory.remove()
  expect(problems).toEqual([])
}, 7_200_000)

test('an uncaught exception ends the server', async () => {
  const directory = await dataDirectory()
  const throwing = `data:text/javascript,process.on('SIGUSR2',()=>{throw%20new%20Error('thrown')})`
  const server = await startServer({ DATA_DIR: directory.path, NODE_OPTIONS: `--import=${throwing}` })
  expect(await server.stop('SIGUSR2')).toBe(1)
})
