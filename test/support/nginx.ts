import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { findProgram } from './requirements.ts'
import { startProxy, type RunningProxy } from './proxy.ts'
import { temporaryDirectory } from './server.ts'

/**
 * Starts Debian's nginx with all its files in a temporary directory. Resolves when it is ready.
 *
 * @param http The contents of its `http` block: `server` and `upstream` blocks as in /etc/nginx/conf.d/, with the ports to listen
 * on. `freePort` finds ports.
 * @throws {Error} nginx is missing, and the message says what to install. Or nginx ended, and the message has its output.
 */
export async function startNginx(http: string): Promise<RunningProxy> {
  const program = findProgram('nginx', 'nginx-light')
  const directory = await temporaryDirectory()
  // A separate file, so that nginx reports mistakes with the caller's line numbers.
  await writeFile(join(directory.path, 'http.conf'), http)
  await writeFile(join(directory.path, 'nginx.conf'), configuration)
  const options = ['-p', directory.path, '-c', join(directory.path, 'nginx.conf'), '-e', 'stderr']
  // nginx binds its ports before it logs this, so the kernel accepts connections from then on. The pid file would not be a safer
  // sign, and would not say why nginx ended.
  return startProxy(program, options, /start worker processes/)
}

/** The media types and compression of Debian's nginx.conf. With one worker, load balancing is strictly round-robin. */
const configuration = [
  // Otherwise its workers would run as `nobody`, who may not read root's temporary directories.
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
