import type { AddressInfo } from 'node:net'
import fastify from 'fastify'

import type { ListenAddress } from '../../settings/listen-address.ts'
import { version } from '../../settings/version.ts'
import { countApplications } from '../applications/count-by-status.ts'
import type { BackupState } from '../backups/scheduled.ts'
import { cached } from '../cached.ts'
import type { PoolCounts } from '../database/connection/pool.ts'
import type { Sql } from '../database/connection/sql.ts'
import { countOpenDeliveries } from '../deliveries/overview.ts'
import type { Health, HealthState } from '../health/readiness.ts'
import { requestLimits } from '../http/request-limits.ts'
import { within } from '../within.ts'
import { expositionType, formatMetrics, gauge, type Metric } from './exposition.ts'
import { watchProcess } from './process.ts'

/** What the metrics are read from. */
export interface MetricsOptions {
  /** The database, as the schema's owner. */
  sql: Sql
  health: Pick<Health, 'read'>
  /** Whether applications are delivered to a webhook. Otherwise their deliveries are never late. */
  delivers: boolean
  /** Reads the state of the automatic backups; undefined if none are made. */
  backups?: (() => BackupState) | undefined
  /** Counts the connections of each pool. */
  countConnections: () => Record<string, PoolCounts>
}

/** Milliseconds for which the numbers of deliveries and of applications are reused. All applications are counted. */
const freshness = { deliveries: 5_000, applications: 60_000 }
/** Timeout of these numbers, in milliseconds. Prometheus itself gives up after ten seconds. */
const timeout = 2_000
/** Scrapers keep one connection each. */
const maxConnections = 20

/**
 * Serves the metrics at `GET /metrics`, and nothing else, on an address of their own.
 *
 * @returns The port, and a function that stops it.
 */
export async function startMetrics({ host, port }: ListenAddress, options: MetricsOptions) {
  const app = fastify({ ...requestLimits, exposeHeadRoutes: false })
  app.server.maxConnections = maxConnections
  const watched = watchProcess()
  app.addHook('onClose', () => watched.stop())
  const readNumbers = createNumbers(options)
  app.get('/metrics', async (_request, reply) => {
    const metrics = [
      ...(await readNumbers()),
      ...connectionMetrics(options.countConnections()),
      ...watched.read(),
    ]
    return reply.type(expositionType).send(formatMetrics(metrics))
  })
  try {
    await app.listen({ host, port })
  } catch (error) {
    await app.close()
    throw error
  }
  return {
    port: (app.server.address() as AddressInfo).port,
    async stop() {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

/** Creates a function that reads the numbers of the product. Without the database, only those that need none are left. */
function createNumbers({ sql, health, delivers, backups }: MetricsOptions) {
  const timeoutError = () => new Error(`no answer within ${timeout} ms`)
  // A count that takes too long goes on in the database, so the next scrape must not begin another.
  const cachesFailures = true
  const deliveries = cached(() => within(timeout, countOpenDeliveries(sql), timeoutError), { cachesFailures })
  const applications = cached(() => within(timeout, countApplications(sql), timeoutError), { cachesFailures })
  return async (): Promise<Metric[]> => {
    const current = await health.read()
    const [open, counts] = current.isReady
      ? await Promise.all([
          deliveries(freshness.deliveries).catch(() => []),
          applications(freshness.applications).catch(() => ({})),
        ])
      : [[], {}]
    return [
      ...stateMetrics(current, backups?.()),
      gauge(
        'unplugged_applications',
        'Applications of all retreats by status, at most a minute ago.',
        Object.entries(counts).map(([status, value]) => ({ labels: { status }, value })),
      ),
      gauge(
        'unplugged_deliveries',
        'Deliveries that are not done, counted up to 100,000 for each kind and state.',
        open.flatMap(({ kind, waiting, sending, failed }) =>
          Object.entries({ waiting, sending, failed }).map(([state, value]) => ({
            labels: { kind, state },
            value,
          })),
        ),
      ),
      gauge(
        'unplugged_deliveries_oldest_seconds',
        'Age of the oldest delivery that waits or is being sent; 0 without one.',
        open
          .filter(({ kind }) => delivers || kind !== 'application')
          .map(({ kind, oldestSeconds }) => ({ labels: { kind }, value: oldestSeconds })),
      ),
    ]
  }
}

/** The metrics of a server's health, and of its backups. */
function stateMetrics(state: HealthState, backups: BackupState | undefined): Metric[] {
  const { stuck, numbers } = state.isReady ? state : {}
  const hasMailProblem = numbers && (numbers.mailProblem !== null || numbers.mailFailingSince !== null)
  return [
    gauge('unplugged_build_info', 'The versions of the server and of Node.js.', [
      { labels: { version, node: process.versions.node }, value: 1 },
    ]),
    gauge('unplugged_up', 'Whether the server is ready, as /readyz says: 1 or 0.', Number(state.isReady)),
    gauge(
      'unplugged_stuck',
      'How many things are stuck so that an operator has to act, as /readyz?strict says.',
      stuck?.length,
    ),
    gauge(
      'unplugged_mail_problem',
      'Whether the mail server accepts no email, or something delays all: 1 or 0.',
      hasMailProblem === undefined ? undefined : Number(hasMailProblem),
    ),
    gauge(
      'unplugged_backup_timestamp_seconds',
      'When the newest whole backup was made, in Unix time.',
      backups?.newestAt && backups.newestAt.getTime() / 1e3,
    ),
    gauge(
      'unplugged_backup_failing',
      'Whether backups fail, or erasures cannot be listed: 1 or 0.',
      backups && Number(backups.failingSince !== undefined),
    ),
  ]
}

/** The metrics of the connections to the database. */
function connectionMetrics(connections: Record<string, PoolCounts>): Metric[] {
  const valuesOf = (key: keyof PoolCounts) =>
    Object.entries(connections).map(([pool, counts]) => ({ labels: { pool }, value: counts[key] }))
  return [
    gauge('unplugged_database_connections', 'Open connections to the database.', valuesOf('open')),
    gauge('unplugged_database_connections_idle', 'Open connections that nobody uses.', valuesOf('idle')),
    gauge('unplugged_database_waiting', 'Work that waits for a connection.', valuesOf('waiting')),
  ]
}
