import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import type { AddressInfo } from 'node:net'
import { Secret, TOTP } from 'otpauth'
import ws from 'ws'

import { createApp } from '../src/server/app.ts'
import { addOrganiser, operatorSecret } from '../src/server/auth/organisers.ts'
import type { Database } from '../src/server/database/database.ts'
import type { Settings } from '../src/settings/server-settings.ts'
import { openTestDatabase } from './database.ts'
import { atEnd } from './endings.ts'
import { startMailServer, type MailServer } from './mail-server.ts'

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
  call: Call
  /** Another server on the same database, or on this way to it. */
  another(
    settings?: Partial<AppSettings>,
    database?: AppDatabase,
  ): Promise<{ origin: string; call: Call; close(): Promise<void> }>
  close(): Promise<void>
}

/** A call of the sign-in as anybody could send it, from an address that nobody came from yet unless it is named. */
type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Response>

type AppSettings = Pick<Settings, 'anonKey' | 'rateLimitPerMinute' | 'siteUrl' | 'trustProxy' | 'mailServer'>

type AppDatabase = Parameters<typeof createApp>[0]['database']

/** The settings of a mail server on the loopback that asks for no user. */
export function mailServerAt(port: number): NonNullable<Settings['mailServer']> {
  const from = { name: 'Unplugged.', address: 'hello@example.org' }
  return { host: '127.0.0.1', port, secure: false, user: '', password: '', from }
}

let made = 0

/**
 * Starts a server that organisers can sign in to. It believes one proxy, so that a test may come from anywhere by
 * `X-Forwarded-For`.
 */
export async function startSignIn(settings: Partial<AppSettings> = {}): Promise<SignInServer> {
  const mail = await startMailServer()
  const database = await openTestDatabase()
  const start = async (own: Partial<AppSettings> = {}, way: AppDatabase = database) => {
    const app = await createApp({
      settings: {
        anonKey,
        siteUrl: undefined,
        trustProxy: 1,
        rateLimitPerMinute: 0,
        mailServer: mailServerAt(mail.port),
        ...settings,
        ...own,
      },
      database: way,
      // Each takes 50 ms otherwise.
      passwordCost: 4,
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const origin = `http://127.0.0.1:${port}`
    return { origin, call: callTo(origin), close: atEnd(() => app.close()) }
  }
  const { origin, call, close } = await start()

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
    call,
    another: start,
    close,
  }
}

/** Calls the sign-in of the server at this address. */
export function callTo(origin: string): Call {
  return (method, path, body, headers = {}) =>
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
    })
}

let addresses = 0

/** An address that nobody came from yet: the limits count by it. */
export function anAddress(): string {
  addresses += 1
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

/** What a call answered. */
export async function said(answer: Response | Promise<Response>): Promise<{ status: number; body: unknown }> {
  const { status } = await answer
  const text = await (await answer).text()
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

/** The headers of whoever signed in with a client. */
export async function bearerOf(client: SupabaseClient): Promise<{ authorization: string }> {
  const { data } = await client.auth.getSession()
  return { authorization: `Bearer ${data.session?.access_token}` }
}

/**
 * What an authenticator shows.
 *
 * @param steps How many times thirty seconds from now: one back and one ahead are taken too.
 */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
}
