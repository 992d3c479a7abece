import { spawn } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import { atTestEnd } from './cleanup.ts'
import { findProgram } from './requirements.ts'
import { commandRunner, debianPrograms, initdbOptions } from './other-postgres.ts'
import { outputOf } from './output.ts'
import { freePort } from './ports.ts'
import { endWithTest } from './end-with-test.ts'
import { temporaryDirectory } from './server.ts'
import { until } from './until.ts'
import { createPool, type Pool } from '../../src/server/database/connection/pool.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'

/** Two PostgreSQL servers from Debian's packages, a primary and its standby, behind the single address of HAProxy. */
export interface Replicas {
  /** The address of HAProxy, which leads to the current primary. */
  url: string
  /** Connections of the superuser to the current primary, without HAProxy. */
  primary: () => Sql
  /** Kills the primary with SIGKILL. */
  killPrimary(): Promise<void>
  /** Promotes the standby, as docs/several-servers.md says. */
  promote(): Promise<void>
  /** Makes the killed server a standby of the primary. Resolves when the primary waits for the standby at each commit. */
  rejoin(): Promise<void>
}

interface Node {
  port: number
  data: string
  admin: Pool
}

/** @throws {Error} A program is missing. The message says what to install. */
export async function startReplicas(): Promise<Replicas> {
  const program = findProgram('haproxy')
  const directory = await temporaryDirectory()
  const command = await commandRunner(debianPrograms, directory.path)
  const node = async (name: string): Promise<Node> => {
    const port = await freePort()
    const admin = createPool({ host: '127.0.0.1', port, user: 'postgres' }, { size: 1, idleTimeout: 1_000 })
    return { port, data: join(directory.path, name), admin }
  }
  let [primary, standby] = [await node('one'), await node('two')]
  atTestEnd(async () => {
    for (const { admin, data } of [primary, standby]) {
      await admin.end(1_000)
      // A test may have killed one of the servers.
      await command('pg_ctl', 'stop', `--pgdata=${data}`, '-m', 'immediate').catch(() => {})
    }
  })
  const start = async ({ port, data }: Node) => {
    const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=`
    await command('pg_ctl', 'start', `--pgdata=${data}`, `--log=${data}.log`, '--wait', '-o', options)
  }
  const makeStandby = async () => {
    await rm(standby.data, { recursive: true, force: true })
    const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=follower`
    await command(
      'pg_basebackup',
      `--pgdata=${standby.data}`,
      `--dbname=${source}`,
      '--write-recovery-conf',
      '--checkpoint=fast',
    )
    await start(standby)
    await primary.admin`alter system set synchronous_standby_names = '*'`
    await primary.admin`select pg_reload_conf()`
    await until('a standby that follows', async () => {
      return (await primary.admin`select from pg_stat_replication where sync_state = 'sync'`).length > 0
    })
  }
  await command('initdb', `--pgdata=${primary.data}`, ...initdbOptions)
  await start(primary)
  await primary.admin`create role haproxy login connection limit 4`
  await makeStandby()

  const listenPort = await freePort()
  const recipe = await readFile('deploy/haproxy-postgresql.cfg', 'utf8')
  const configuration = recipe
    .replace('127.0.0.1:5433', `127.0.0.1:${listenPort}`)
    .replace('10.0.0.2:5432', `127.0.0.1:${primary.port}`)
    .replace('10.0.0.3:5432', `127.0.0.1:${standby.port}`)
  await writeFile(join(directory.path, 'haproxy.cfg'), configuration)
  const haproxy = spawn(program, ['-db', '-f', join(directory.path, 'haproxy.cfg')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithTest(haproxy)
  // Until HAProxy has checked both servers, it treats each of them as the primary.
  await outputOf(haproxy).waitForOutput(/ is DOWN/)

  return {
    url: `postgres://postgres@127.0.0.1:${listenPort}/postgres`,
    primary: () => primary.admin,
    async killPrimary() {
      const pid = Number.parseInt(await readFile(join(primary.data, 'postmaster.pid'), 'utf8'), 10)
      process.kill(pid, 'SIGKILL')
      await until('the end of the primary', async () => !(await accepts(primary.port)))
    },
    async promote() {
      await standby.admin`select pg_promote()`
      ;[primary, standby] = [standby, primary]
      // The new primary has the old one's settings. With them, each commit would wait for a standby that does not exist.
      await primary.admin`alter system set synchronous_standby_names = ''`
      await primary.admin`select pg_reload_conf()`
    },
    rejoin: makeStandby,
  }
}

function accepts(port: number) {
  return new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
