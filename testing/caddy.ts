import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { programOf } from './needed.ts'
import { startProxy, type RunningProxy } from './proxy.ts'
import { temporaryDirectory } from './server.ts'

/**
 * Starts Debian's Caddy, with all that it writes in a temporary directory. It is ready when this resolves.
 *
 * @param caddyfile Its whole configuration. Where it listens is said there; `freePort` finds ports.
 * @throws {Error} that says what to install, or holds what Caddy says where it ends instead.
 */
export async function startCaddy(caddyfile: string): Promise<RunningProxy> {
  const program = programOf('caddy')
  const directory = await temporaryDirectory()
  const file = join(directory.path, 'Caddyfile')
  await writeFile(file, caddyfile)
  const { PATH = '' } = process.env
  const env = { PATH, HOME: directory.path }
  // It listens before it says this.
  return startProxy(program, ['run', '--config', file], /serving initial configuration/, env)
}
