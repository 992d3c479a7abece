import type { SupabaseClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'

import { addOrganiser, operatorSecret } from '../src/server/auth/organisers.ts'
import { atEnd, currentScope } from './endings.ts'
import { clientOf } from './organiser.ts'
import { dataDirectory, startServer, strictCheckout } from './server.ts'
import { connectToFiles } from './sql.ts'
import type { Sql } from '../src/server/database/sql.ts'
import type { Pool } from '../src/server/database/pool.ts'

/** A running server whose desk is to be used, and its database. */
export interface DeskServer {
  readonly origin: string
  readonly sql: Pool
  /** The real client of an organiser who signed in; they are made one unless they are. */
  signedIn(email: string): Promise<SupabaseClient>
  /** Kills the server, and starts it again on the same database and port. */
  killed(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a server as `npm start` does, with these settings and an empty database.
 *
 * @param kept Where that is, unless in a new directory.
 * @param checkout Where the server lies; a journey's unless given.
 */
export async function startDesk(
  settings: Record<string, string> = {},
  kept?: { path: string },
  checkout = strictCheckout(),
): Promise<DeskServer> {
  const made = kept ? undefined : await dataDirectory()
  const path = kept?.path ?? made?.path ?? ''
  const given = { ...settings, DATA_DIR: path }
  let server = await startServer(given, checkout)
  const { origin } = server
  const inThisScope = currentScope()
  const sql = connectToFiles(path)
  const close = atEnd(async () => {
    await sql.end()
    await server.stop()
    await made?.remove()
  })
  return {
    origin,
    sql,
    close,
    signedIn: (email) => signInOrganiser(sql, origin, email),
    async killed() {
      await server.stop('SIGKILL')
      server = await inThisScope(() => startServer({ ...given, PORT: new URL(origin).port }, checkout))
    },
  }
}

/**
 * Signs an organiser in by the operator's link; they are made one unless they are.
 *
 * @param sql Connections of the schema's owner.
 * @returns Their real client.
 */
export async function signInOrganiser(sql: Sql, origin: string, email: string): Promise<SupabaseClient> {
  await addOrganiser(sql, email)
  const client = clientOf(origin)
  const token_hash = await operatorSecret(sql, email)
  const { error } = await client.auth.verifyOtp({ type: 'magiclink', token_hash })
  if (error) throw error
  return client
}

const known = new WeakMap<object, Map<string, Promise<SupabaseClient>>>()

/**
 * Signs somebody in at a server, once: from one address it takes but a few in a minute.
 *
 * @param who Their name here; an organiser's address unless it is said how they sign in.
 */
export function knownAt(
  desk: Pick<DeskServer, 'signedIn'>,
  who: string,
  signIn: () => Promise<SupabaseClient> = () => desk.signedIn(who),
): Promise<SupabaseClient> {
  const all = known.get(desk) ?? new Map<string, Promise<SupabaseClient>>()
  known.set(desk, all)
  const client = all.get(who) ?? signIn()
  all.set(who, client)
  return client
}

/** Where the desk's client keeps who signed in, as `src/client/session.ts` names it. */
const storageKey = 'unplugged-desk'

/**
 * Lets a page of the desk open as whoever signed in with a client.
 *
 * @returns What is to be done to the page before it is opened.
 */
export function signInPage(client: SupabaseClient): (page: Page) => Promise<void> {
  return async (page) => {
    const { data } = await client.auth.getSession()
    await page.addInitScript(
      ([key, session]) => {
        localStorage.setItem(key, session)
        // Who has been here before has read what to do first.
        localStorage.setItem('unplugged-desk-welcome', 'off')
      },
      [storageKey, JSON.stringify(data.session)] as const,
    )
  }
}
