import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { vi } from 'vitest'

import { atTestEnd } from './cleanup.ts'

/** An email that the server would have sent. */
interface LiteMail {
  to: string
  subject: string
  html?: string
}

/** Supabase's own small server. */
export interface SupabaseLite {
  origin: string
  publicKey: string
  /** All emails so far. */
  mails: LiteMail[]
}

/** The part of the documented interface that this file uses. */
interface Packages {
  lite: { App: new (config: object) => LiteApp }
  postgres: { createPostgresConnection: (config: object) => { close(): Promise<void> } }
  node: { serve: (options: object) => Server }
}

interface LiteApp {
  fetch(request: Request, context: object): Promise<Response>
  ensureSystemSchema(): Promise<void>
}

const packages = ['@supabase/lite@0.10.0', 'postgres@3.4.9']

/** The message if the packages are not available. */
export const noLite = `npm could not fetch ${packages.join(' and ')}.`

/**
 * Fetches `@supabase/lite` into an empty directory. It is not a dependency, because only these tests need its seventy packages.
 *
 * @returns Whether npm could fetch it.
 */
export async function fetchSupabaseLite(directory: string): Promise<boolean> {
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', directory]
  try {
    await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: directory })
    return true
  } catch {
    return false
  }
}

/**
 * Starts `@supabase/lite` on a database, where it makes its own tables of accounts.
 *
 * @param directory The folder that it was fetched to.
 * @param url The database's address, for a role that owns only the schema `auth` and may become `anon` and `authenticated`.
 * @param siteUrl The target of the links in its emails.
 */
export async function startSupabaseLite(
  directory: string,
  url: string,
  siteUrl: string,
): Promise<SupabaseLite> {
  const load = async (path: string) =>
    (await import(/* @vite-ignore */ pathToFileURL(join(directory, 'node_modules', path)).href)) as unknown
  const { App } = (await load('@supabase/lite/dist/index.js')) as Packages['lite']
  const { createPostgresConnection } = (await load(
    '@supabase/lite/dist/db/postgres/PostgresConnection.js',
  )) as Packages['postgres']
  const { serve } = (await load('@hono/node-server/dist/index.mjs')) as Packages['node']

  const connection = createPostgresConnection({
    url,
    postgresOptions: {
      onnotice: () => {},
      // Lite passes JSON as text. The driver would encode the text again, and a list of decisions would arrive as a string.
      types: {
        jsonb: {
          to: 3802,
          from: [3802],
          serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
          parse: (text: string) => JSON.parse(text) as unknown,
        },
      },
    },
  })
  // Lite prints every refusal with its parameters.
  const consoleError = vi.spyOn(console, 'error').mockImplementation(() => {})
  const publicKey = 'sb_publishable_of_the_tests'
  const mails: LiteMail[] = []
  const app = new App({
    connection,
    auth: {
      enabled: true,
      site_url: siteUrl,
      jwt_secret: 'nothing that anybody would guess within a test',
      publishable_key: publicKey,
      email: { template: { magic_link: { content_path: './supabase/templates/magic_link.html' } } },
    },
    options: { drivers: { email: { send: async (mail: LiteMail) => void mails.push(mail) } } },
  })
  await app.ensureSystemSchema()
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request: Request) =>
      request.method === 'OPTIONS'
        ? answerPreflight(request)
        : allowEveryOrigin(await app.fetch(request, { peerAddress: null })),
  })
  if (!server.listening) await once(server, 'listening')
  atTestEnd(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
    await connection.close()
    consoleError.mockRestore()
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publicKey,
    mails,
  }
}

/**
 * Responds to a browser's preflight request in place of Lite. Lite's sign-in allows no header, and its functions with arguments
 * respond to a preflight request with 404. In a hosted project the gateway responds to preflight requests.
 */
function answerPreflight({ headers }: Request): Response {
  const response = new Response(null, { status: 204 })
  response.headers.set('access-control-allow-methods', headers.get('access-control-request-method') ?? '')
  response.headers.set('access-control-allow-headers', headers.get('access-control-request-headers') ?? '')
  return allowEveryOrigin(response)
}

function allowEveryOrigin(response: Response): Response {
  const headers = new Headers(response.headers)
  headers.set('access-control-allow-origin', '*')
  return new Response(response.body, { status: response.status, headers })
}
