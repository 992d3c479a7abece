import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach } from 'vitest'

import type { Application } from '../../src/application/application.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { askDesk, type Details, type Outcome, type Page } from './ask-desk.ts'
import { anApplication } from './form.ts'
import { resetDatabase } from './reset.ts'
import { startSignIn, type SignInServer } from './sign-in-server.ts'
import { valuesOf } from './sql.ts'

/** What an opened application has as long as nobody accepted it. */
export const noInvitation = { answer_state: null, answer: null, answered_at: null, kept_until: null }

let words = 0

/** Makes a word of letters that no other application of this run has. */
export function aWord(): string {
  words += 1
  return `word${Array.from(String(words), (digit) => 'abcdefghij'[Number(digit)]).join('')}x`
}

/** Inserts form answers that may be too long, as earlier versions without limits did. */
export function withoutLimit(sql: Sql, insert: (transaction: Sql) => Promise<unknown>): Promise<void> {
  return sql.begin(async (transaction) => {
    await transaction`alter table public.retreat_applications disable trigger refuse_too_long`
    await insert(transaction)
    await transaction`alter table public.retreat_applications enable trigger refuse_too_long`
  })
}

/**
 * Starts a server for the test file that calls this, with an organiser who reads and decides. Each test begins with a new
 * database.
 */
export function applicationDesk() {
  let server: SignInServer
  let client: SupabaseClient
  let me: string

  beforeAll(async () => {
    server = await startSignIn()
    ;({ client, email: me } = await server.signedIn())
  })
  beforeEach(() => resetDatabase(server.database.owner))

  return {
    get server() {
      return server
    },
    /** The client of the organiser, whose calls the functions below make by default. */
    get client() {
      return client
    },
    /** The organiser's email address. */
    get me() {
      return me
    },

    /** Stores an application as the database's owner, optionally with its time. Returns its id. */
    store: async (changes: Partial<Application> = {}, at?: string, on = server) => {
      const answers = { ...anApplication(changes), ...(at === undefined ? {} : { created_at: at }) }
      const [row] = await on.database.owner<{ id: string }[]>`
        insert into public.retreat_applications ${valuesOf(answers)} returning id`
      return row?.id ?? ''
    },

    list: (filter: object, caller = client) => askDesk<Page>(caller, 'list', { filter }),

    openDetails: (application: string, caller = client) =>
      askDesk<Details>(caller, 'application', { application }),

    decide: (decisions: object[], caller = client, act: string = crypto.randomUUID()) =>
      askDesk<Outcome[]>(caller, 'decide', { act, decisions }),

    /** Reads all pages in order, and calls `between` after each. */
    readPages: async (
      name: 'list' | 'export',
      filter: object,
      between: () => Promise<unknown> = async () => {},
    ) => {
      const all: Page[] = []
      let after: Page['next'] = null
      do {
        const page: Page = await askDesk<Page>(client, name, { filter, after })
        all.push(page)
        after = page.next
        await between()
      } while (after !== null)
      return all
    },
  }
}
