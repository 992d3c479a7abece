import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { findProgram } from './requirements.ts'
import { outputOf } from './output.ts'
import { freePort } from './ports.ts'
import { endWithTest } from './end-with-test.ts'
import { temporaryDirectory } from './server.ts'

/** A transaction pooler in front of a PostgreSQL. */
export interface TestPooler {
  /** The address of the database, through the pooler. */
  url: string
  stop(): Promise<void>
}

/**
 * Starts Debian's pgbouncer in front of the database at `target`.
 *
 * @param tls The files of a key and its certificate, to accept only TLS.
 * @throws {Error} pgbouncer is missing. The message says what to install.
 */
export async function startPooler(
  target: string,
  tls?: { key: string; certificate: string },
): Promise<TestPooler> {
  const program = findProgram('pgbouncer')
  const directory = await temporaryDirectory()
  const { hostname, port, pathname, username } = new URL(target)
  const listenPort = await freePort()
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'pool_mode = transaction',
    // Fewer connections than our servers open, so that the servers have to share them.
    'default_pool_size = 3',
    'auth_type = trust',
    `auth_file = ${join(directory.path, 'users')}`,
    ...(tls
      ? [
          'client_tls_sslmode = require',
          `client_tls_key_file = ${tls.key}`,
          `client_tls_cert_file = ${tls.certificate}`,
        ]
      : []),
  ]
  const configuration = join(directory.path, 'pgbouncer.ini')
  await writeFile(join(directory.path, 'users'), `"${decodeURIComponent(username)}" ""\n`)
  await writeFile(configuration, `${lines.join('\n')}\n`)
  // pgbouncer refuses to run as root, and reads its files as another user.
  await chmod(directory.path, 0o755)
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [...user, configuration], { stdio: ['ignore', 'ignore', 'pipe'] })
  endWithTest(child)
  const ended = once(child, 'exit')
  await outputOf(child).waitForOutput('process up')
  return {
    url: `postgres://${username}@localhost:${listenPort}${pathname}`,
    async stop() {
      child.kill('SIGINT')
      await ended
    },
  }
}
