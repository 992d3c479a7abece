import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import type { AddressInfo } from 'node:net'
import ws from 'ws'

import { addOrganiser, operatorSecret } from '../src/server/auth/organisers.ts'
import { openDatabase, type Database } from '../src/server/database/database.ts'
import { createApp } from '../src/server/http/app.ts'
import type { Settings } from '../src/settings/server-settings.ts'
import { startMailServer, type MailServer } from './mail-server.ts'
import { dataDirectory } from './server.ts'

export const anonKey = 'public-anon-key'

/** A server with its database and a mail server, in this process. */
export interface SignInServer {
  origin: string
  database: Database
  mail: MailServer
  /** The real client, which nobody signed in with yet. */
  client(options?: { flowType?: 'implicit' | 'pkce' }): SupabaseClient
  /** Makes an organiser; gives their address, which is new each time unless it is named. */
  organiser(email?: string): Promise<string>
  /** The real client of an organiser who signed in by the operator's link. */
  signedIn(email?: string): Promise<{ client: SupabaseClient; email: string }>
  /** A call of the sign-in as anybody could send it. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** Another server on the same database. */
  another(settings?: Partial<AppSettings>): Promise<{ origin: string; close(): Promise<void> }>
  close(): Promise<void>
}

type AppSettings = Pick<Settings, 'anonKey' | 'rateLimitPerMinute' | 'siteUrl' | 'trustProxy' | 'mailServer'>

let made = 0

/**
 * Starts a server that organisers can sign in to. It believes one proxy, so that a test may come from anywhere by
 * `X-Forwarded-For`.
 */
export async function startSignIn(settings: Partial<AppSettings> = {}): Promise<SignInServer> {
  const directory = await dataDirectory()
  const mail = await startMailServer()
  const database = await openDatabase(
    { dataDir: directory.path, databaseUrl: undefined },
    { schema: 'migrate', holder: 'the tests' },
  )
  const start = async (own: Partial<AppSettings> = {}) => {
    const app = await createApp({
      settings: {
        anonKey,
        siteUrl: undefined,
        trustProxy: 1,
        rateLimitPerMinute: 0,
        mailServer: {
          host: '127.0.0.1',
          port: mail.port,
          secure: false,
          user: '',
          password: '',
          from: 'Unplugged. <hello@example.org>',
        },
        ...settings,
        ...own,
      },
      database,
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    return { origin: `http://127.0.0.1:${port}`, close: () => app.close() }
  }
  const { origin, close } = await start()

  const client: SignInServer['client'] = ({ flowType = 'implicit' } = {}) =>
    createClient(origin, anonKey, {
      auth: { flowType, autoRefreshToken: false, persistSession: false, detectSessionInUrl: false },
      global: { headers: { 'x-forwarded-for': anAddress() } },
      realtime: { transport: ws as never },
    })
  const organiser: SignInServer['organiser'] = async (email) => {
    made += 1
    const address = email ?? `organiser-${made}@example.org`
    await addOrganiser(database.owner, address)
    return address
  }
  return {
    origin,
    database,
    mail,
    client,
    organiser,
    async signedIn(email) {
      const address = await organiser(email)
      const signing = client()
      const { error } = await signing.auth.verifyOtp({
        type: 'magiclink',
        token_hash: await operatorSecret(database.owner, address),
      })
      if (error) throw error
      return { client: signing, email: address }
    },
    call: (method, path, body, headers = {}) =>
      fetch(`${origin}/auth/v1/${path}`, {
        method,
        redirect: 'manual',
        headers: {
          apikey: anonKey,
          'x-forwarded-for': anAddress(),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    another: start,
    async close() {
      await close()
      await mail.close()
      await database.close()
      await directory.remove()
    },
  }
}

let addresses = 0

/** An address that nobody came from yet: the limits count by it. */
export function anAddress(): string {
  addresses += 1
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}
