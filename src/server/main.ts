import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

import { createApp } from './app.ts'
import { createScheduledBackups } from './backups/scheduled.ts'
import { openDatabase, type Database } from './database/database.ts'
import { fileFailure, lossError, unreachableError } from './database/connection/operator-errors.ts'
import { serverName } from './database/postgres/holder-lock.ts'
import { writeSite } from './letters/site-for-letters.ts'
import { startPageState } from './pages/page-state.ts'
import { siteOf } from './site-url.ts'
import { startDispatcher } from './deliveries/webhook-worker.ts'
import { createPace } from './deliveries/pace.ts'
import { startMailChecks } from './mail/requested-checks.ts'
import { startMailSender } from './letters/mail-sender.ts'
import { startRetention } from './retention/retention.ts'
import { notifyReady } from './service-manager.ts'
import { createHealth } from './health/readiness.ts'
import { checkListenAddress, listenFailure } from './check-listen-address.ts'
import { createLog, endLog, flushLog, logRepeats } from './log.ts'
import { startMetrics } from './metrics/metrics.ts'
import { readOpenFileLimit } from './open-files.ts'
import { migrationLine, startLines, type BackupBefore } from './start-lines.ts'
import { exitProcess } from '../settings/exit-process.ts'
import { runProgram } from '../settings/operator-error.ts'
import { readSettings, type Settings } from '../settings/server-settings.ts'
import { stopParts, type Part } from './stop-parts.ts'

/** Signals within this many milliseconds count as one: Ctrl-C sends one from the terminal and one from npm. */
const signalGap = 500
/** Milliseconds that pending requests may still take when the server stops. */
const requestGrace = 15_000
/** Timeouts in milliseconds: first of stopping all parts, then of stopping the database. docs/operate.md documents them. */
const partsTimeout = 30_000
const databaseTimeout = 70_000

/** Runs the server until a signal stops it. */
async function main() {
  const settings = readSettings()
  const log = createLog(settings.logLevel)
  let server: { stop: () => Promise<void> } | undefined
  let stopping: Promise<void> | undefined
  let firstSignal: { signal: NodeJS.Signals; at: number } | undefined
  const stop = (signal: NodeJS.Signals) => {
    if (server !== undefined) {
      stopping ??= end(server, signal, log)
      return
    }
    const isSecond = firstSignal !== undefined && performance.now() - firstSignal.at > signalGap
    firstSignal ??= { signal, at: performance.now() }
    // A start with the embedded database is finished first, so that the database can be shut down cleanly.
    if (settings.databaseUrl !== undefined || isSecond) {
      console.error('Stopped before it was ready.')
      void exitProcess(isSecond ? 1 : 0)
    }
  }
  // SIGHUP: the terminal was closed. Without a listener it would end this process at once, and PostgreSQL would keep running.
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', stop)
  // Without a listener, a closed pipe would do the same. The log reports its own failures.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  server = await start(settings, log)
  if (firstSignal !== undefined) await (stopping ??= end(server, firstSignal.signal, log))
}

/** Stops the server, then exits the process even if something still hangs. */
async function end(server: { stop: () => Promise<void> }, signal: NodeJS.Signals, log: Logger) {
  await server.stop()
  logRepeats()
  log.info({ signal }, 'stopped')
  await endLog()
  await exitProcess()
}

async function start(settings: Settings, log: Logger) {
  const {
    host,
    port,
    siteUrl,
    webhookUrl,
    webhookDecisionsUrl,
    webhookSecret,
    mailServer,
    mailPerMinute,
    webhookPerMinute,
    metricsAddress,
  } = settings
  const { backupDir: dir, backupAt: at, backupKeep: keep } = settings
  const backups = dir === undefined ? undefined : createScheduledBackups({ dir, at, keep, log })
  await backups?.refuseForeign()
  let backup: BackupBefore | undefined
  const database = await openDatabase(settings, {
    schema: 'migrate',
    holder: serverName(host, port),
    onEvent: (message) => log.warn(message),
    beforeCreation: async () => {
      await checkAddresses(settings)
      await backups?.beforeCreation()
    },
    beforeMigration: async (sql) => {
      await checkAddresses(settings)
      await backups?.beforeMigration(sql)
      backup = backups === undefined ? 'not set' : backups.state().failingSince ? 'failed' : 'made'
    },
    onMigrated: (names) => console.log(migrationLine(names.length, backup)),
  })
  const parts: Part[] = []
  const stop = async () => {
    database.announceClose()
    const problems = [
      ...(await stopParts(parts, partsTimeout)),
      // The database is last, since all parts use it.
      ...(await stopParts([{ name: 'The database', stop: () => database.close() }], databaseTimeout)),
    ]
    for (const problem of problems) console.error(problem)
    if (problems.length > 0) process.exitCode = 1
  }
  try {
    if (settings.databaseUrl === undefined) await backups?.beforeServing(database.server)
    await writeSite(database.server, settings)
    const pageState = await startPageState(database.server, settings.look, log)
    parts.push({ name: 'The state of the pages', stop: () => pageState.stop() })
    const dispatcher =
      webhookUrl === undefined
        ? undefined
        : startDispatcher({
            sql: database.server,
            kind: 'application',
            receiver: { url: webhookUrl, secret: webhookSecret },
            pace: createPace(webhookPerMinute),
            log,
          })
    if (dispatcher) parts.push({ name: 'The webhook', stop: () => dispatcher.stop() })
    const openFiles = readOpenFileLimit()
    const onStored = () => dispatcher?.wake()
    const delivers = dispatcher !== undefined
    const { server: sql, areFilesGone, countConnections } = database
    const health = createHealth({ sql, delivers, areFilesGone, backups: backups?.state })
    const app = await createApp({
      settings,
      pageState,
      database,
      health,
      openFiles,
      onStored,
      log,
    })
    parts.push({ name: 'The pages', stop: () => closeApp(app) })
    await app.listen({ host, port }).catch((error: unknown) => {
      throw listenFailure(error, settings)
    })
    if (metricsAddress !== undefined) {
      const sources = { sql, health, delivers, backups: backups?.state, countConnections }
      const metrics = await startMetrics(metricsAddress, sources).catch((error: unknown) => {
        throw listenFailure(error, metricsAddress)
      })
      parts.push({ name: 'The metrics', stop: () => metrics.stop() })
    }
    const listening = app.server.address() as AddressInfo
    database.renameHolder(serverName(listening.address, listening.port))
    const retention = startRetention({ sql: database.server, log })
    parts.push({ name: 'The erasing', stop: () => retention.stop() })
    if (mailServer !== undefined) {
      // Without SITE_URL, links in notices lead to the address where this server listens.
      const site = siteOf(siteUrl, listening)
      const mailSender = startMailSender({
        sql: database.server,
        mailServer,
        site,
        look: pageState.look,
        perMinute: mailPerMinute,
        log,
      })
      parts.push({ name: 'The letters', stop: () => mailSender.stop() })
      const checks = startMailChecks({ sql: database.server, mailServer, log })
      parts.push({ name: 'The checks of the mail server', stop: () => checks.stop() })
    }
    if (webhookDecisionsUrl !== undefined) {
      const receiver = { url: webhookDecisionsUrl, secret: webhookSecret }
      const pace = createPace(webhookPerMinute)
      const decisions = startDispatcher({
        sql: database.server,
        kind: 'decision',
        receiver,
        pace,
        log,
      })
      parts.push({ name: 'The webhook of decisions', stop: () => decisions.stop() })
      const rsvps = startDispatcher({ sql: database.server, kind: 'rsvp', receiver, pace, log })
      parts.push({ name: 'The webhook of RSVPs', stop: () => rsvps.stop() })
    }
    if (backups) {
      backups.start(database)
      parts.push({ name: 'The backups', stop: () => backups.stop() })
    }
    const isRoot = process.getuid?.() === 0
    // The log is flushed first, so that the line with the address is the last one on the terminal.
    await flushLog()
    for (const line of startLines(settings, { ...database, port: listening.port, isRoot, openFiles }))
      console.log(line)
    await notifyReady().catch((error: unknown) =>
      log.warn({ err: error }, 'systemd could not be told that the server is ready'),
    )
  } catch (error) {
    await stop()
    throw startFailure(error, database, settings)
  }
  return { stop }
}

/** Waits for pending requests, and closes the connections of those that take too long. */
async function closeApp(app: FastifyInstance) {
  const timer = setTimeout(() => app.server.closeAllConnections(), requestGrace)
  await app.close()
  clearTimeout(timer)
}

/** The error of a start that failed after the database was opened, with advice if its cause is known. */
function startFailure(error: unknown, { description }: Database, settings: Settings) {
  const isEmbedded = settings.databaseUrl === undefined
  return (
    fileFailure(error) ??
    (isEmbedded ? lossError(error, settings, description) : unreachableError(error, description))
  )
}

/** Refuses addresses that this server cannot listen on, before it creates or updates the database. */
async function checkAddresses(settings: Settings) {
  await checkListenAddress(settings)
  if (settings.metricsAddress !== undefined) await checkListenAddress(settings.metricsAddress)
}

await runProgram(main)
if (process.exitCode === 1) {
  // A hanging file operation would keep the process alive.
  await endLog()
  await exitProcess()
}
