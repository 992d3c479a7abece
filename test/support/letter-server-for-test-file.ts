import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach } from 'vitest'

import type { Application } from '../../src/application/application.ts'
import type { Letter, LettersOverview } from '../../src/client/desk/letters.ts'
import { askDesk } from './ask-desk.ts'
import { anApplication } from './form.ts'
import { resetDatabase } from './reset.ts'
import { startSignIn, type SignInServer } from './sign-in-server.ts'
import { valuesOf } from './sql.ts'

/** A page of letters. */
export interface Page {
  letters: Letter[]
  next: object | null
}

/** The occasion and state of each letter. */
export const statesOf = (letters: Letter[]): string[] =>
  letters.map(({ occasion, state }) => `${occasion}: ${state}`)

/** The outcome for each letter of a release. */
export const outcomesOf = (outcomes: { outcome: string }[]): string[] =>
  outcomes.map(({ outcome }) => outcome)

/**
 * Starts a server for the test file that calls this, with an organiser who writes letters. Each test begins with a new database and
 * a mail sender.
 */
export function letterDesk() {
  let server: SignInServer
  let client: SupabaseClient
  let me: string
  const sql = () => server.database.owner

  beforeAll(async () => {
    server = await startSignIn()
    ;({ client, email: me } = await server.signedIn())
  })

  beforeEach(async () => {
    versions.clear()
    await resetDatabase(sql())
    await sql()`update private.postman set seen_at = now()`
  })

  /** Calls a function of the desk as an organiser. Returns its response. */
  const ask = <Result>(name: string, args: object = {}, caller = client) =>
    askDesk<Result>(caller, name, args)

  async function store(changes: Partial<Application> = {}) {
    const answers = anApplication(changes)
    const [row] = await sql()<[{ id: string }]>`
      insert into public.retreat_applications ${valuesOf(answers)} returning id`
    return row.id
  }

  const versions = new Map<string, number>()
  async function decide(id: string, status: string) {
    const act = crypto.randomUUID()
    const decisions = [{ id, status, version: versions.get(id) ?? 0 }]
    const [outcome] = await ask<{ version: number; outcome: string }[]>('decide', { act, decisions })
    versions.set(id, outcome?.version ?? 0)
    return outcome
  }

  const drafts = (occasion = 'accepted') => ask<Page>('drafts', { occasion })
  const lettersOf = (...applications: string[]) => ask<Letter[]>('letters_of', { applications })
  const release = (letters: { id: string; seen: string }[], more: object = {}) =>
    ask<{ id: string; outcome: string }[]>('release', {
      act: crypto.randomUUID(),
      letters: letters.map(({ id, seen }) => ({ id, seen })),
      ...more,
    })

  /** Saves a new text of a template, with an unchanged subject. */
  async function correctTemplate(occasion: string, body: string) {
    const { templates } = await ask<LettersOverview>('letters')
    const template = templates.find((each) => each.occasion === occasion)
    return ask('set_template', { occasion, version: template?.version, subject: template?.subject, body })
  }

  /** Marks all waiting letters as sent. */
  const markSent = () =>
    sql()`
      update private.deliveries set state = 'done', done_at = clock_timestamp(), due_at = null
      where kind = 'letter' and state = 'waiting'`

  /** Marks all waiting letters and receipts as refused by the mail server. */
  const refuse = (reply = '550 no') =>
    sql()`
      update private.deliveries set state = 'failed', is_refused = true, due_at = null, reply = ${reply}, attempts = 3
      where kind in ('letter', 'receipt') and state = 'waiting'`

  /** Signs another organiser in. */
  const another = () => server.signedIn()
  /** Signs another organiser in, who reads blind. */
  async function blindReader() {
    const { client: blind } = await another()
    await ask('set_blind', { blind: true }, blind)
    return blind
  }

  return {
    /** The organiser's client. */
    client: () => client,
    /** The organiser's email address. */
    me: () => me,
    sql,
    ask,
    store,
    decide,
    drafts,
    lettersOf,
    release,
    correctTemplate,
    markSent,
    refuse,
    another,
    blindReader,
  }
}
