import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect } from 'vitest'

import type { ApplicationDetails } from '../../src/client/desk/applications.ts'
import type { Letter, ReleaseOutcome } from '../../src/client/desk/letters.ts'
import type { Places } from '../../src/client/desk/retreat.ts'
import { record } from '../../src/server/letters/outcomes.ts'
import { claimLetter } from './claimed-emails.ts'
import { askDesk } from './ask-desk.ts'
import { anApplication } from './form.ts'
import { resetDatabase } from './reset.ts'
import { startSignIn, type SignInServer } from './sign-in-server.ts'
import { valuesOf } from './sql.ts'

/** The address of the site in the links of letters. */
export const site = 'https://unplugged.example/retreat'

/** Reads the token of the RSVP link in a text; empty without a link. */
export const tokenIn = (text: string): string => /\/answer\/#(\S+)/.exec(text)?.[1] ?? ''

/**
 * Starts a server for the test file that calls this, with an organiser who invites people. Each test begins with a new database, a
 * site and a mail sender.
 */
export function retreatDesk() {
  let server: SignInServer
  let client: SupabaseClient
  let me: string
  const sql = () => server.database.owner

  beforeAll(async () => {
    server = await startSignIn()
    ;({ client, email: me } = await server.signedIn())
  })

  /** Restores a new database, with a site and a mail sender. */
  async function reset() {
    await resetDatabase(sql())
    await sql()`update private.letter_settings set hold = '0', reply_to = 'answers@example.org'`
    await sql()`update private.postman set seen_at = now()`
    await sql()`update private.places set site = ${site}, zone = 'UTC'`
  }
  beforeEach(reset)

  const ask = <Result>(name: string, args: object = {}) => askDesk<Result>(client, name, args)

  /** Calls as the holder of a link, with only the public key. */
  async function visit(
    name: 'place_by_token' | 'answer_place' | 'withdrawal_by_token' | 'withdraw_application',
    args: object,
  ) {
    const { data, error } = await server.client().rpc(name, args)
    if (error) throw error
    return data as unknown
  }

  async function store(first_name = 'Ada') {
    const [row] = await sql()<[{ id: string }]>`
      insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name, email: `${crypto.randomUUID()}@example.com` }) })}
      returning id`
    return row.id
  }

  async function decide(id: string, status: string) {
    const [row] = await sql()<[{ version: number }?]>`
      select version from private.statuses where application_id = ${id}`
    const decisions = [{ id, status, version: row?.version ?? 0 }]
    expect(await ask('decide', { act: crypto.randomUUID(), decisions })).toMatchObject([
      { outcome: 'kept', status },
    ])
  }

  const lettersOf = (id: string) => ask<Letter[]>('letters_of', { applications: [id] })

  /** Releases the drafts of an application. Returns the first outcome. */
  async function release(id: string, again = false) {
    const letters = (await lettersOf(id)).filter(({ state }) => state === 'draft')
    const [outcome] = await ask<ReleaseOutcome[]>('release', {
      act: crypto.randomUUID(),
      letters: letters.map(({ id: letter, seen }) => ({ id: letter, seen })),
      number: null,
      again,
    })
    return outcome?.outcome
  }

  /** Sends a due letter, as a mail sender does. Returns the claim, which has the letter. */
  async function send() {
    await sql()`update private.postman set next_at = '-infinity'`
    const claim = await claimLetter(sql())
    if (claim === undefined) throw new Error('no letter is due')
    expect(await record(sql(), claim, { result: 'done', code: 250 })).toBe('done')
    return claim
  }

  /** Stores a person, accepts them and sends them the letter. Returns their id and the token of their link. */
  async function invite(name?: string) {
    const id = await store(name)
    await decide(id, 'accepted')
    expect(await release(id)).toBe('released')
    const { body } = await send()
    return { id, token: tokenIn(body) }
  }

  const sendRsvp = (token: string, rsvp: string, actId: string = crypto.randomUUID()) =>
    visit('answer_place', { token, answer: rsvp, act: actId })
  const details = (id: string) => ask<ApplicationDetails>('application', { application: id })
  const places = () => ask<Places>('places')
  /** The date in this many days, in the time zone of deadlines. */
  async function dayIn(days: number) {
    const [row] = await sql()<[{ day: string }]>`select (private.today() + ${days}::integer)::text as day`
    return row.day
  }
  /** Moves all reminders three days into the past. After three days, people may be reminded again. */
  const passThreeDays = () =>
    sql()`update private.invitations set reminded_at = reminded_at - interval '3 days'`
  /** Lets half of everybody's days to answer pass. From then on, people may be reminded. */
  const passHalf = () =>
    sql()`
      update private.invitations set told_at = now() - (deadline - private.today()) * interval '1 day'
      where told_at is not null and deadline >= private.today()`
  /** Lets a person's deadline pass. */
  const passDeadline = (id: string) =>
    sql()`update private.invitations set deadline = private.today() - 1 where application_id = ${id}`

  return {
    /** The organiser's client. */
    client: () => client,
    /** The organiser's email address. */
    me: () => me,
    sql,
    reset,
    ask,
    visit,
    store,
    decide,
    lettersOf,
    release,
    send,
    invite,
    sendRsvp,
    details,
    places,
    dayIn,
    passThreeDays,
    passHalf,
    passDeadline,
  }
}
