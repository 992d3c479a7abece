import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import type { AddressInfo } from 'node:net'
import { Secret, TOTP } from 'otpauth'
import ws from 'ws'

import { createApp } from '../../src/server/app.ts'
import { addOrganiser, operatorSecret } from '../../src/server/auth/manage-organisers.ts'
import type { Database } from '../../src/server/database/database.ts'
import type { Settings } from '../../src/settings/server-settings.ts'
import { openTestDatabase } from './database.ts'
import { atTestEnd } from './cleanup.ts'
import { startMailServer, type MailServer } from './mail-server.ts'

export const anonKey = 'public-anon-key'

/** A server in this process, with its database and a mail server. */
export interface SignInServer {
  origin: string
  database: Database
  mail: MailServer
  /** Creates the real client, which is not signed in. */
  client(options?: { flowType?: 'implicit' | 'pkce' }): SupabaseClient
  /** Adds an organiser. Returns the email address, by default a new one. */
  organiser(email?: string): Promise<string>
  /** Signs an organiser in by the operator's link. Returns the real client. */
  signedIn(email?: string): Promise<{ client: SupabaseClient; email: string }>
  call: Call
  /** Starts another server on the same database, or on other connections to it. */
  another(
    settings?: Partial<AppSettings>,
    database?: AppDatabase,
  ): Promise<{ origin: string; call: Call; close(): Promise<void> }>
  close(): Promise<void>
}

/** Calls a path below `/auth/v1/` without a session, by default from an unused IP address. */
type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Response>

type AppSettings = Pick<
  Settings,
  'anonKey' | 'rateLimitPerMinute' | 'siteUrl' | 'look' | 'trustProxy' | 'mailServer'
>

type AppDatabase = Parameters<typeof createApp>[0]['database']

/** The settings of a mail server on the loopback address that requires no sign-in. */
export function mailServerAt(port: number): NonNullable<Settings['mailServer']> {
  const from = { name: 'Unplugged.', address: 'hello@example.org' }
  return { host: '127.0.0.1', port, secure: false, user: '', password: '', from }
}

/** The `fetch` of Node.js. Tests of screens replace the global one for the desk. */
const nodeFetch = globalThis.fetch

let organiserCount = 0

/**
 * Starts a server that organisers can sign in to. It trusts one proxy, so that a test may choose any address in
 * `X-Forwarded-For`.
 */
export async function startSignIn(settings: Partial<AppSettings> = {}): Promise<SignInServer> {
  const mail = await startMailServer()
  const database = await openTestDatabase()
  const start = async (changes: Partial<AppSettings> = {}, usedDatabase: AppDatabase = database) => {
    const app = await createApp({
      settings: {
        anonKey,
        siteUrl: undefined,
        look: {},
        trustProxy: 1,
        rateLimitPerMinute: 0,
        mailServer: mailServerAt(mail.port),
        ...settings,
        ...changes,
      },
      database: usedDatabase,
      // With the default cost, each password check takes 50 ms.
      passwordCost: 4,
      // Emails are sent at once.
      maxEmailDelay: 0,
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const origin = `http://127.0.0.1:${port}`
    const close = atTestEnd(() => {
      const closed = app.close()
      // Without this, it waits 30 s for a connection that was opened for a call that ended before it was sent.
      app.server.closeAllConnections()
      return closed
    })
    return { origin, call: callTo(origin), close }
  }
  const { origin, call, close } = await start()

  const client: SignInServer['client'] = ({ flowType = 'implicit' } = {}) =>
    createClient(origin, anonKey, {
      auth: {
        flowType,
        autoRefreshToken: false,
        persistSession: false,
        detectSessionInUrl: false,
        // Clients with one key warn that they would share a browser's store.
        storageKey: crypto.randomUUID(),
      },
      global: { headers: { 'x-forwarded-for': unusedIpAddress() }, fetch: nodeFetch },
      realtime: { transport: ws as never },
    })
  const organiser: SignInServer['organiser'] = async (email) => {
    organiserCount += 1
    const address = email ?? `organiser-${organiserCount}@example.org`
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
      const signedInClient = client()
      const { error } = await signedInClient.auth.verifyOtp({
        type: 'magiclink',
        token_hash: await operatorSecret(database.owner, address),
      })
      if (error) throw error
      return { client: signedInClient, email: address }
    },
    call,
    another: start,
    close,
  }
}

/** Makes a function that calls paths below `/auth/v1/` of the server at this address. */
export function callTo(origin: string): Call {
  return (method, path, body, headers = {}) =>
    fetch(`${origin}/auth/v1/${path}`, {
      method,
      redirect: 'manual',
      headers: {
        apikey: anonKey,
        'x-forwarded-for': unusedIpAddress(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
}

let addressCount = 0

/** Returns an unused IP address, because rate limits count by address. */
export function unusedIpAddress(): string {
  addressCount += 1
  return `10.${(addressCount >> 16) & 255}.${(addressCount >> 8) & 255}.${addressCount & 255}`
}

/** Reads the status and the JSON of a response. */
export async function readResponse(
  response: Response | Promise<Response>,
): Promise<{ status: number; body: unknown }> {
  const { status } = await response
  const text = await (await response).text()
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

/** The authorization header of a client's session. */
export async function bearerOf(client: SupabaseClient): Promise<{ authorization: string }> {
  const { data } = await client.auth.getSession()
  return { authorization: `Bearer ${data.session?.access_token}` }
}

/**
 * The current code of an authenticator.
 *
 * @param steps The distance from now in steps of thirty seconds. Servers also accept codes one step back or ahead.
 */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
}

/** A wrong code in place of the right one. */
export function otherCodeThan(code: string): string {
  return code === '000000' ? '000001' : '000000'
}
