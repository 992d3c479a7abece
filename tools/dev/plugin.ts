import { once } from 'node:events'
import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { HotUpdateOptions, Plugin, ViteDevServer } from 'vite'

import { OperatorError } from '../../src/settings/operator-error.ts'
import type { DevServer } from './server.ts'

/** The addresses that Vite itself serves: its client, sources and packages. */
const ofVite = /^\/(?:@|__|src\/|node_modules\/)|[?&]html-proxy\b/
/** Milliseconds that a request waits for a server, longer than a restart takes. */
const patience = 10_000
/** Sources of the server that no page shows. */
const behindPages = /^(?:src\/(?:server|settings)|supabase)\//
const migration = /^(?:supabase|src\/server\/database)\/migrations\/[^/]+\.sql$/

/** What the plugin needs, and who hears of changes. */
interface DevPagesOptions {
  server: DevServer
  /** Called with each change of a migration, before the server starts again. */
  onMigrationChange: (change: HotUpdateOptions) => void
  /** Called with Vite's server when it has started, or started again after a change of its configuration. */
  onStart: (vite: ViteDevServer) => void
}

/**
 * Serves the pages, and everything else that the product's server answers, through Vite: a change of a component is replaced in
 * the page, and each other change of a document loads it again.
 */
export function devPages({ server, onMigrationChange, onStart }: DevPagesOptions): Plugin {
  return {
    name: 'dev-pages',
    configureServer(vite) {
      onStart(vite)
      vite.middlewares.use((request, response, next) => {
        if (ofVite.test(request.url ?? '')) return next()
        forward(server, vite, request, response).catch((error: unknown) => {
          if (response.headersSent) response.destroy()
          else sendFailure(response, error)
        })
      })
    },
    hotUpdate(change) {
      if (this.environment.name !== 'server') return
      const { file, modules, server: vite } = change
      const path = relative(vite.config.root, file)
      if (migration.test(path)) onMigrationChange(change)
      else if (modules.length === 0) return
      server.restart()
      const { hot, moduleGraph } = vite.environments.client
      // Vite itself replaces what a page has loaded as a module, or loads the page again.
      const isLoaded = [...(moduleGraph.getModulesByFile(file) ?? [])].some(
        ({ isSelfAccepting }) => isSelfAccepting !== undefined,
      )
      if (behindPages.test(path) || isLoaded) return []
      vite.config.logger.info(`page reload ${path}`, { timestamp: true })
      hot.send({ type: 'full-reload', path: '*' })
      return []
    },
  }
}

/** Sends a request to the product's server. Adds Vite's client to a document. */
async function forward(
  server: DevServer,
  vite: ViteDevServer,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const starting = new OperatorError('The server is starting. This page loads again when it is ready.')
  const address = await Promise.race([server.address(), wait(patience, undefined, { ref: false })])
  if (address === undefined) throw starting
  const { method, url = '/', headers } = request
  const { hostname, port } = new URL(address)
  const forwarded = sendRequest({
    host: hostname,
    port,
    method,
    path: url,
    headers: { ...headers, 'accept-encoding': 'identity' },
    agent: false,
  })
  response.on('close', () => forwarded.destroy())
  request.pipe(forwarded)
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage]
  const isDocument = answer.headers['content-type']?.startsWith('text/html') === true
  if (!isDocument) {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
    return
  }
  // The policy allows no script of Vite, and the document is no longer as long.
  const { 'content-security-policy': _, 'content-length': __, etag: ___, ...others } = answer.headers
  const html = await vite.transformIndexHtml(url, await text(answer))
  response.writeHead(answer.statusCode ?? 502, { ...others, 'cache-control': 'no-store' }).end(html)
}

/** Sends one sentence about a failure, as a page that loads again until the server runs. */
function sendFailure(response: ServerResponse, error: unknown) {
  const sentence =
    error instanceof OperatorError ? error.message : `The server did not respond: ${String(error)}`
  const escaped = sentence.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  response
    .writeHead(503, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', refresh: '1' })
    .end(`<!doctype html><html lang="en"><title>Unplugged.</title><p>${escaped}</p></html>\n`)
}
