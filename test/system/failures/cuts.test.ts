import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'

import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { extent, seed as firstSeed } from '../../support/quick-or-long.ts'
import { freePort } from '../../support/ports.ts'
import { postmasterOf } from '../../support/postmaster.ts'
import { startPostgres } from '../../support/postgres.ts'
import { randomFrom } from '../../support/random.ts'
import { dataDirectory, startServer } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { until } from '../../support/until.ts'
import { startCalls, addOrganisers, type CallLoad } from './callers.ts'
import { gracePeriod, judge } from './verdicts.ts'

/** The number of cuts. By default each kind of cut is made once, and more often in a long run. */
const roundsSetting = process.env['CUT_ROUNDS']

/** Milliseconds after a cut until calls of every kind must be served again, and until the test stops waiting. */
const [maxRecovery, recoveryTimeout] = [2_000, 20_000]
/** Log lines of errors that no handler caught, or that only the last handler caught. */
const uncaught = /^.*(uncaught|unhandled|(Type|Range|Reference)Error).*$/gim
/** The largest share of calls outside a cut that may fail. */
const maxUnservedShare = 0.001

/** Cuts connections. Resolves when the database is reachable again. */
type Cut = (random: () => number, callers: CallLoad) => Promise<unknown>

/** Resolves after this many more calls. */
function waitForCalls(callers: CallLoad, count: number) {
  const { calls } = callers
  const enough = calls.length + count
  return callers.waitUntil(() => calls.length >= enough)
}

/**
 * Cuts a server's connections while people use it. The given kinds of cuts take turns.
 *
 * @returns A sentence for each wrong outcome. Short periods of 503 are not wrong.
 */
async function problemsAfterCuts(settings: Record<string, string>, sql: Sql, cuts: Record<string, Cut>) {
  const serverSettings = { ...settings, PORT: String(await freePort()), TRUST_PROXY: '1' }
  let server = await startServer(serverSettings)
  let exited = once(server.process, 'exit')
  const hasExited = () => server.process.exitCode !== null || server.process.signalCode !== null
  const callers = startCalls(server.origin, await addOrganisers(sql, server.origin))
  const { calls, kinds, acknowledged } = callers
  const waitUntil = (condition: () => boolean) => callers.waitUntil(() => hasExited() || condition())

  const namedCuts = Object.entries(cuts)
  const rounds = Number(roundsSetting ?? extent({ quick: 1, long: 20 }) * namedCuts.length)
  const problems: string[] = []
  const total = { outside: 0, unserved: 0, recovery: 0 }
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
    const random = randomFrom(seed)
    const [name, makeCut] = namedCuts[seed % namedCuts.length] ?? []
    const outputLength = server.output().length
    await waitForCalls(callers, 50 + Math.floor(random() * 200))
    const began = performance.now()
    await Promise.race([makeCut?.(random, callers), exited])
    const cut = { began, ended: performance.now() }
    await waitUntil(() => performance.now() > cut.ended + gracePeriod)
    await waitForCalls(callers, 100)
    const hasRecovered = () => judge(calls, cut, kinds).lastServed.milliseconds < Infinity
    await waitUntil(() => hasRecovered() || performance.now() > cut.ended + recoveryTimeout)

    const verdict = judge(calls.splice(0), cut, kinds)
    const prefix = `SEED=${seed}, ${name}: `
    problems.push(...verdict.wrong.map((wrong) => prefix + wrong))
    problems.push(...(server.output().slice(outputLength).match(uncaught) ?? []).map((line) => prefix + line))
    if (hasExited()) {
      problems.push(`${prefix}the server exited`)
      server = await startServer(serverSettings)
      exited = once(server.process, 'exit')
    } else {
      const { kind, milliseconds } = verdict.lastServed
      total.outside += verdict.outside
      total.unserved += verdict.unserved
      total.recovery = Math.max(total.recovery, milliseconds)
      if (milliseconds > maxRecovery)
        problems.push(`${prefix}${kind} is served again after ${Math.round(milliseconds)} ms`)
    }
  }
  await callers.end()
  const { outside, unserved, recovery } = total
  console.log(
    `Calls that failed outside a cut and the second after it: ${unserved} of ${outside}. Served again within ${Math.round(recovery)} ms.`,
  )
  if (unserved > outside * maxUnservedShare)
    problems.push(`${unserved} of ${outside} calls outside a cut and the second after it failed`)
  const stored = await sql<{ email: string }[]>`select email from public.retreat_applications`
  const emails = new Set(stored.map(({ email }) => email))
  if (stored.length > emails.size)
    problems.push(`${stored.length - emails.size} applications are stored twice`)
  problems.push(...acknowledged.filter((email) => !emails.has(email)).map((email) => `${email} is lost`))
  const code = await server.stop()
  return code === 0 ? problems : [...problems, `the server exited with ${code}`]
}

test('no response is wrong while connections to an external database are lost', async () => {
  const postgres = await startPostgres('database')
  const problems = await problemsAfterCuts({ DATABASE_URL: postgres.url() }, postgres.admin, {
    ended: async () => postgres.closeConnections('FIN'),
    reset: async () => postgres.closeConnections('RST'),
    'cut inside a row': async (random, callers) => {
      // Cuts one to sixteen connections. Half of the cuts are near the end of a result, after the last row.
      let cutsLeft = Math.ceil(2 ** (random() * 4))
      const cutAt = (length: number) => Math.floor(length - random() * (random() < 0.5 ? length : 24))
      const stopCutting = postgres.cutMidData((length) => (cutsLeft-- > 0 ? cutAt(length) : length))
      await waitForCalls(callers, 50)
      stopCutting()
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

test('no response is wrong while the embedded database is lost', async () => {
  const directory = await dataDirectory()
  const sql = connectToEmbedded(directory.path)
  const kill = async (signal: NodeJS.Signals) => {
    const pid = await postmasterOf(directory.path)
    if (pid === undefined) throw new Error('There is no database to be killed.')
    process.kill(pid, signal)
    const isBack = async () => {
      const newPid = await postmasterOf(directory.path)
      return newPid !== undefined && newPid !== pid && (await sql`select 1`).length === 1
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
