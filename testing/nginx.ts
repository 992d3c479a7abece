import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { findExecutable } from './browser.ts'
import { temporaryDirectory } from './server.ts'

/** A running nginx. */
export interface RunningNginx {
  /** Everything that it has logged so far. */
  output: () => string
  /** Resolves when its log holds the text. */
  logged: (text: RegExp) => Promise<void>
  /** Ends it at once, with the connections that it has. */
  stop(): Promise<void>
}

/**
 * Starts Debian's nginx, with all that it writes in a temporary directory. It is ready when this resolves.
 *
 * @param http What its `http` block is to hold: `server` and `upstream` blocks, as a file in
 *   /etc/nginx/conf.d/ has them. Where they listen is said there; `freePort` finds ports.
 * @throws {Error} that says what to install, or holds what nginx says where it ends instead.
 */
export async function startNginx(http: string): Promise<RunningNginx> {
  const program = findExecutable(['nginx'], ['/usr/sbin/nginx'])
  if (program === undefined) throw new Error('There is no nginx: apt-get install nginx-light.')
  const directory = await temporaryDirectory()
  // A file of its own, so that nginx names the lines of a mistake as the caller wrote them.
  await writeFile(join(directory.path, 'http.conf'), http)
  await writeFile(join(directory.path, 'nginx.conf'), configuration)
  const options = ['-p', directory.path, '-c', join(directory.path, 'nginx.conf'), '-e', 'stderr']
  const child = spawn(program, options, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  // It binds its ports before it says this, and from then on the kernel accepts connections for it. To watch
  // for its pid file would be no surer, and tell nothing of why it ended.
  let output = ''
  const closed = once(child, 'close')
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const logged = (text: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (!text.test(output)) return
        child.stderr.off('data', check)
        resolve()
      }
      child.stderr.on('data', check)
      closed.then(() => reject(new Error(`nginx ended:\n${output}`)), reject)
      check()
    })
  await logged(/start worker processes/)
  return {
    output: () => output,
    logged,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await directory.remove()
    },
  }
}

/** As Debian's nginx.conf says of types and compression. One worker, so that it balances in strict turn. */
const configuration = [
  // Its workers would be nobody's, who may not enter a temporary directory of root's.
  ...(process.getuid?.() === 0 ? ['user root;'] : []),
  'daemon off;',
  'worker_processes 1;',
  'pid nginx.pid;',
  'error_log stderr notice;',
  'events {}',
  'http {',
  'include /etc/nginx/mime.types;',
  'default_type application/octet-stream;',
  'gzip on;',
  'access_log off;',
  ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${kind};`),
  'include http.conf;',
  '}',
  '',
].join('\n')
