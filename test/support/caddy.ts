import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { findProgram } from './requirements.ts'
import { startProxy, type RunningProxy } from './proxy.ts'
import { temporaryDirectory } from './server.ts'

/**
 * Starts Debian's Caddy with all its files in a temporary directory. Resolves when it is ready.
 *
 * @param caddyfile Its whole configuration, with the ports to listen on. `freePort` finds ports.
 * @throws {Error} Caddy is missing, and the message says what to install. Or Caddy ended, and the message has its output.
 */
export async function startCaddy(caddyfile: string): Promise<RunningProxy> {
  const program = findProgram('caddy')
  const directory = await temporaryDirectory()
  const file = join(directory.path, 'Caddyfile')
  await writeFile(file, caddyfile)
  const { PATH = '' } = process.env
  const env = { PATH, HOME: directory.path }
  // Caddy logs this after it has begun to listen.
  return startProxy(program, ['run', '--config', file], /serving initial configuration/, env)
}
