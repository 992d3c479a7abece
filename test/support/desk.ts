import type { SupabaseClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'

import { addOrganiser, operatorSecret } from '../../src/server/auth/manage-organisers.ts'
import { atTestEnd, currentScope } from './cleanup.ts'
import { clientOf } from './sign-in-by-link.ts'
import { dataDirectory, startServer } from './server.ts'
import { connectToEmbedded } from './sql.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import type { Pool } from '../../src/server/database/connection/pool.ts'

/** A running server for tests of the desk, and its database. */
export interface DeskServer {
  readonly origin: string
  readonly sql: Pool
  /** The real client of a signed-in organiser. The account is created if needed. */
  signedIn(email: string): Promise<SupabaseClient>
  /** Kills the server, and starts it again on the same database and port. */
  killAndRestart(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a server as `npm start` does, with these settings and an empty database.
 *
 * @param existing The directory of the database, by default a new one.
 * @param checkout The folder with the built server, by default this checkout.
 */
export async function startDesk(
  settings: Record<string, string> = {},
  existing?: { path: string },
  checkout?: string,
): Promise<DeskServer> {
  const created = existing ? undefined : await dataDirectory()
  const path = existing?.path ?? created?.path ?? ''
  const serverSettings = { ...settings, DATA_DIR: path }
  let server = await startServer(serverSettings, checkout)
  const { origin } = server
  const inScope = currentScope()
  const sql = connectToEmbedded(path)
  const close = atTestEnd(async () => {
    await sql.end()
    await server.stop()
    await created?.remove()
  })
  return {
    origin,
    sql,
    close,
    signedIn: (email) => signInOrganiser(sql, origin, email),
    async killAndRestart() {
      await server.stop('SIGKILL')
      server = await inScope(() => startServer({ ...serverSettings, PORT: new URL(origin).port }, checkout))
    },
  }
}

/**
 * Signs an organiser in by the operator's link. The account is created if needed.
 *
 * @param sql Connections of the schema's owner.
 * @returns Their real client.
 */
export async function signInOrganiser(sql: Sql, origin: string, email: string): Promise<SupabaseClient> {
  // Not again, since measurements also do this with the schema of an earlier version.
  const [known] = await sql`
    select from private.organisers join auth.users on users.id = account_id where email = ${email}`
  if (known === undefined) await addOrganiser(sql, email)
  const client = clientOf(origin)
  const token_hash = await operatorSecret(sql, email)
  const { error } = await client.auth.verifyOtp({ type: 'magiclink', token_hash })
  if (error) throw error
  return client
}

const clientsByDesk = new WeakMap<object, Map<string, Promise<SupabaseClient>>>()

/**
 * Signs a person in at a server. Later calls return the same client, because each IP address may sign in only so often.
 *
 * @param person A name for the person. Without `signIn` it is an organiser's email address.
 */
export function signedInClient(
  desk: Pick<DeskServer, 'signedIn'>,
  person: string,
  signIn: () => Promise<SupabaseClient> = () => desk.signedIn(person),
): Promise<SupabaseClient> {
  const all = clientsByDesk.get(desk) ?? new Map<string, Promise<SupabaseClient>>()
  clientsByDesk.set(desk, all)
  const client = all.get(person) ?? signIn()
  all.set(person, client)
  return client
}

/** The desk's key for its session in local storage, as in `src/client/session.ts`. */
const storageKey = 'unplugged-desk'

/**
 * Makes pages of the desk open with the session of a client.
 *
 * @returns A step to run on the page before it is opened.
 */
export function signPageIn(client: SupabaseClient): (page: Page) => Promise<void> {
  return async (page) => {
    const { data } = await client.auth.getSession()
    await page.addInitScript(
      ([key, session]) => {
        localStorage.setItem(key, session)
        // As for a returning organiser, the hints for the first visit are closed.
        localStorage.setItem('unplugged-desk-welcome', 'off')
        // Most tests are about one application.
        localStorage.setItem('unplugged-desk-goes-on', 'off')
      },
      [storageKey, JSON.stringify(data.session)] as const,
    )
  }
}
