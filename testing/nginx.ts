import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { programOf } from './needed.ts'
import { startProxy, type RunningProxy } from './proxy.ts'
import { temporaryDirectory } from './server.ts'

/**
 * Starts Debian's nginx, with all that it writes in a temporary directory. It is ready when this resolves.
 *
 * @param http What its `http` block is to hold: `server` and `upstream` blocks, as a file in
 *   /etc/nginx/conf.d/ has them. Where they listen is said there; `freePort` finds ports.
 * @throws {Error} that says what to install, or holds what nginx says where it ends instead.
 */
export async function startNginx(http: string): Promise<RunningProxy> {
  const program = programOf('nginx', 'nginx-light')
  const directory = await temporaryDirectory()
  // A file of its own, so that nginx names the lines of a mistake as the caller wrote them.
  await writeFile(join(directory.path, 'http.conf'), http)
  await writeFile(join(directory.path, 'nginx.conf'), configuration)
  const options = ['-p', directory.path, '-c', join(directory.path, 'nginx.conf'), '-e', 'stderr']
  // It binds its ports before it says this, and from then on the kernel accepts connections for it. To watch
  // for its pid file would be no surer, and tell nothing of why it ended.
  return startProxy(program, options, /start worker processes/)
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
