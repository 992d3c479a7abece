import { beforeAll, expect, test } from 'vitest'

import { claimLetter, claimNotice, claimReceipt } from '../../support/claimed-emails.ts'
import { setRetreat } from '../../support/calendars.ts'
import { watchDeadlocks } from '../../support/deadlocks.ts'
import { extent, seedsOf } from '../../support/quick-or-long.ts'
import { anApplication } from '../../support/form.ts'
import { randomFrom } from '../../support/random.ts'
import { installReset, resetDatabase } from '../../support/reset.ts'
import { startSignIn } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Letter } from '../../../src/client/desk/letters.ts'
import { callFunction, readDeskFunctions, type DeskFunction } from '../../../src/server/rest/functions.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { claimDue } from '../../../src/server/deliveries/claims.ts'
import { recordDelivery, recordHeartbeat, recordTry } from '../../../src/server/deliveries/record-result.ts'
import { tidyNotices } from '../../../src/server/letters/notices.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import { retryUndelivered } from '../../../src/server/letters/overview.ts'

/** How many rounds each seed plays, each with another pair of calls. By default the long run plays all pairs. */
const rounds = Number(process.env['LOCK_ROUNDS'] ?? extent({ quick: 150, long: 0 }))
const seeds = seedsOf({ quick: 1, long: 3 })
/** The calls to play, by default all. */
const only = process.env['LOCK_CALLS']?.split(',')

let owner: Sql
let functions: ReadonlyMap<string, DeskFunction>
let deadlocks: () => Promise<string[]>
/** The claims of two organisers. */
const organisers: string[] = []

beforeAll(async () => {
  const server = await startSignIn()
  ;({ owner } = server.database)
  deadlocks = await watchDeadlocks(owner)
  functions = await readDeskFunctions(owner)
  for (const { client } of [await server.signedIn(), await server.signedIn()])
    organisers.push(JSON.stringify((await client.auth.getClaims()).data?.claims))
  await buildWorld()
  // From now on, a reset restores this world.
  await owner.unsafe('drop schema tests cascade')
  await installReset(owner)
  await pauseAfterChanges()
  await readWorld()
}, 120_000)

/** Calls a function of `public`, by default as the first organiser. It is called without the server, which would retry. */
async function call(name: string, args: object, claims = organisers[0] ?? '') {
  const called = functions.get(name)
  if (called === undefined) throw new Error(`There is no function ${name}.`)
  return owner.begin(async (sql) => {
    await sql`select set_config('request.jwt.claims', ${claims}, true)`
    return JSON.parse(await callFunction(sql, called, JSON.stringify(args), Object.keys(args))) as unknown
  })
}

const desk = (name: string, args: object, claims?: string) => call(`desk_${name}`, args, claims)
const newId = () => crypto.randomUUID()

const question = (text: string, changes: object = {}) => ({
  id: newId(),
  kind: 'short',
  text,
  choices: [],
  is_required: false,
  is_private: false,
  ...changes,
})
const questions = [
  question('Diet?', { is_required: true }),
  question('Allergies?', { is_private: true }),
  question('Train?', { is_private: true }),
  question('Room?'),
]
const answers = (text: string) => Object.fromEntries(questions.map(({ id }) => [id, text]))
const text = { subject: 'By train', body: 'Take the train, {{first_name}}.' }

/** Makes applications with everything that calls lock: letters in all states, answers, and what the retention is about to erase. */
async function buildWorld() {
  await owner`update private.letter_settings set receipts = true, confirmations = true, hold = '0'`
  await owner`update private.places set site = 'https://unplugged.example', zone = 'UTC', places = 3`
  await owner`update private.postman set seen_at = now(), automation_seen_at = now()`
  await owner`update private.organisers set notices = 'each'`
  const applications: string[] = []
  for (const email of ['ada@example.org', 'ada@example.org', 'eve@example.org', 'bob@example.org']) {
    const [{ id }] = await owner<[{ id: string }]>`
      insert into public.retreat_applications ${valuesOf({ ...anApplication({ email, reason: newId() }), created_at: new Date('2020-01-01') })}
      returning id`
    applications.push(id)
  }
  await desk('set_template', { occasion: 'Travel', version: null, ...text })
  await desk('set_questions', { version: 0, questions, until: '2999-01-01', private_days: 1 })
  const decide = (decided: string[], status: string, version: number) =>
    desk('decide', { act: newId(), decisions: decided.map((id) => ({ id, status, version })) })
  const release = (letters: readonly Letter[]) =>
    desk('release', {
      act: newId(),
      letters: letters.filter(({ state }) => state === 'draft').map(({ id, seen }) => ({ id, seen })),
      again: true,
    })
  const releaseDrafts = async () => release(await lettersOf(applications))
  const sendAll = async () => {
    for (;;) {
      await owner`update private.postman set next_at = '-infinity', paused_until = '-infinity'`
      const claim = await claimLetter(owner)
      if (claim === undefined) return
      await record(owner, claim, { result: 'done', code: 250 })
    }
  }
  const [first = '', second = '', third = '', fourth = ''] = applications
  await decide([first, second, third], 'accepted', 0)
  await decide([fourth], 'waitlisted', 0)
  await releaseDrafts()
  await sendAll()
  for (const { token } of await invitations()) {
    await call('answer_place', { token, answer: 'coming', act: newId() })
    await call('answer_questions', { token, answers: answers('yes'), act: newId() })
  }
  for (const application of applications) {
    await desk('mark', { act: newId(), application, mark: 'yes' })
    await desk('write_to', { act: newId(), application, subject: 's', body: 'b' })
  }
  await releaseDrafts()
  for (const application of applications)
    await desk('write_to', { act: newId(), application, subject: 's', body: 'b' })
  await desk('write', { act: newId(), applications, occasion: 'Travel' })
  await decide([third], 'declined', 1)
  await decide([third], 'accepted', 2)
  // Without a mail server, an automation gets the decisions: the earlier one fails, and the later one is being sent.
  await owner`update private.postman set seen_at = '-infinity'`
  const statuses = ['declined', 'waitlisted', 'declined']
  for (const [version, status] of statuses.entries()) {
    await decide([fourth], status, version + 1)
    await release((await lettersOf([fourth])).filter(({ occasion }) => occasion === status))
    if (version > 0) continue
    for (const claim of await claimDue(owner, 'decision', 100))
      await recordTry(owner, claim, { delivered: false, status: 410, text: 'Gone' })
  }
  await owner`update private.postman set seen_at = now()`
  await claimDue(owner, 'decision', 100)
  const refused = await claimLetter(owner)
  if (refused) await record(owner, refused, { result: 'failed', code: 550, reply: '550 no' })
  await claimLetter(owner)
  // Everything is due to be erased, and was announced.
  await setRetreat(owner, { starts_on: '2020-02-01', ends_on: '2020-02-02' })
  await owner`update private.history set at = now() - interval '60 days'`
  // Each act deletes those that are older than a day.
  await owner`update private.acts set at = now() - interval '2 days' where random() < 0.5`
  await owner`update private.retention set months = 1, months_for_guests = 1`
  await owner`
    insert into private.announcements (edition, subject, days, announced_on, until)
    select 1, subject, 9, private.today() - 1, private.today() from unnest(array['applications', 'answers']) as subject`
}

const invitations = () =>
  owner<{ token: string }[]>`select token from private.invitations where is_accepted order by application_id`

async function lettersOf(applications: string[]) {
  return (await desk('letters_of', { applications })) as Letter[]
}

/** Pauses after each change of a row, while its lock is held, so that calls meet more often. */
async function pauseAfterChanges() {
  await owner.unsafe(`
    create function tests.pause() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(random() * 0.004);
      return coalesce(new, old);
    end
    $$`)
  const tables = await owner<{ name: string }[]>`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace in ('public'::regnamespace, 'private'::regnamespace)`
  for (const { name } of tables)
    await owner.unsafe(
      `create trigger a_pause before insert or update or delete on ${name} for each row execute function tests.pause()`,
    )
}

/** What calls can name: every round begins with the same. */
interface World {
  applications: { id: string; email: string; version: number }[]
  tokens: string[]
  /** The tokens of the links in receipts. */
  receiptTokens: string[]
  drafts: Letter[]
  letters: Letter[]
  claims: { id: string; attempt: number; kind: string; age: number }[]
}
let world: World

async function readWorld() {
  const applications = await owner<World['applications']>`
    select id, email, coalesce(version, 0) as version
    from public.retreat_applications left join private.statuses on application_id = id order by id`
  const letters = await lettersOf(applications.map(({ id }) => id))
  world = {
    applications,
    tokens: (await invitations()).map(({ token }) => token),
    receiptTokens: (
      await owner<{ token: string }[]>`select token from private.withdrawal_links order by application_id`
    ).map(({ token }) => token),
    letters,
    drafts: letters.filter(({ state }) => state === 'draft'),
    claims: await owner`
      select id, attempts as attempt, kind, 0 as age from private.deliveries where state = 'sending' order by id`,
  }
  expect({
    drafts: world.drafts.length > 3,
    tokens: world.tokens.length,
    receiptTokens: world.receiptTokens.length,
    refused: letters.some(({ state }) => state === 'refused'),
    claims: new Set(world.claims.map(({ kind }) => kind)),
  }).toEqual({
    drafts: true,
    tokens: 3,
    receiptTokens: 3,
    refused: true,
    claims: new Set(['letter', 'decision']),
  })
}

/** Makes the random choices of a seed. */
function choicesOf(seed: number) {
  const random = randomFrom(seed)
  const shuffle = <One>(all: readonly One[]) => {
    const placed = all.map((each) => ({ each, place: random() }))
    return placed.toSorted((one, other) => one.place - other.place).map(({ each }) => each)
  }
  return {
    random,
    shuffle,
    pick: <One>(some: readonly One[]) => some[Math.floor(random() * some.length)] as One,
    /** Some of them, in any order. */
    some: <One>(all: readonly One[]) => shuffle(all).slice(0, 1 + Math.floor(random() * all.length)),
  }
}
type Choices = ReturnType<typeof choicesOf>

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
const accepted = { result: 'done', code: 250 } as const

/** The arguments of each call that writes. */
const calls: Record<string, (choices: Choices) => object> = {
  answer_place: ({ pick }) => ({
    token: pick(world.tokens),
    answer: pick(['coming', 'not coming']),
    act: newId(),
  }),
  answer_questions: ({ pick, random }) => ({
    token: pick(world.tokens),
    answers: answers(String(random())),
    act: newId(),
  }),
  desk_add: ({ pick, random }) => ({
    act: newId(),
    person: { first_name: 'Ada', email: 'ada@example.org', reason: String(random()) },
    again: pick([true, false]),
    receipt: true,
    webhook: true,
  }),
  withdraw_application: ({ pick }) => ({
    token: pick(world.receiptTokens),
    is_withdrawn: pick([true, false]),
    act: newId(),
  }),
  desk_answer_questions: ({ pick, random }) => ({
    act: newId(),
    application: pick(world.applications).id,
    answers: answers(String(random())),
  }),
  desk_begin_edition: () => ({
    act: newId(),
    newest: 1,
    name: 'Next',
    starts_on: null,
    ends_on: null,
    copied: {},
  }),
  desk_came_back: ({ pick }) => ({
    act: newId(),
    letter: pick(world.letters.filter(({ state }) => state === 'sent')).id,
  }),
  desk_check_mail: () => ({}),
  desk_decide: ({ some, pick }) => ({
    act: newId(),
    decisions: some(world.applications).map(({ id, version }) => ({
      id,
      version,
      status: pick(['accepted', 'declined', 'new', 'aside']),
    })),
  }),
  desk_discard: ({ some }) => ({ letters: idsOf(some(world.drafts)) }),
  desk_edit: ({ pick }) => {
    const { id, seen } = pick(world.drafts)
    return { letter: id, seen, subject: 's', body: 'b' }
  },
  desk_erase: ({ pick }) => {
    const { email } = pick(world.applications)
    const ids = idsOf(world.applications.filter((each) => each.email === email))
    return { applications: ids.toReversed(), email, act: newId() }
  },
  desk_erase_answers: () => ({}),
  desk_erase_due: () => ({ act: newId() }),
  desk_hand_over: ({ pick }) => {
    const { id, seen } = pick(world.drafts)
    return { act: newId(), letter: id, seen }
  },
  desk_hold: ({ pick }) => ({
    act: newId(),
    application: pick(world.applications).id,
    reason: pick(['', 'Comes again']),
  }),
  desk_keep_until: ({ pick }) => ({
    act: newId(),
    application: pick(world.applications).id,
    until: '2999-01-01',
  }),
  desk_mark: ({ pick }) => ({
    act: newId(),
    application: pick(world.applications).id,
    mark: pick(['no', null]),
  }),
  desk_name_edition: ({ random }) => ({ edition: 1, name: String(random()) }),
  desk_see_notes: ({ pick }) => ({ application: pick(world.applications).id, until: 'infinity' }),
  desk_note: ({ pick }) => ({ act: newId(), application: pick(world.applications).id, note: 'n' }),
  desk_readdress: ({ pick }) => ({
    act: newId(),
    letter: pick(world.letters.filter(({ state }) => state === 'refused')).id,
    address: 'new@example.org',
  }),
  desk_release: ({ some }) => ({
    act: newId(),
    letters: some(world.drafts).map(({ id, seen }) => ({ id, seen })),
    again: true,
  }),
  desk_remind: () => ({ act: newId() }),
  desk_remove_template: () => ({ occasion: 'Travel', version: 0 }),
  desk_retry: ({ some }) => ({ letters: idsOf(some(world.letters)) }),
  desk_reveal: ({ pick }) => ({ act: newId(), application: pick(world.applications).id }),
  desk_send_test: ({ pick }) => ({ act: newId(), application: pick(world.applications).id, ...text }),
  desk_sent_by_hand: ({ pick }) => {
    const { id, seen } = pick(world.drafts)
    return { letter: id, seen }
  },
  desk_set_answer: ({ pick }) => ({
    act: newId(),
    application: pick(world.applications).id,
    answer: pick(['coming', 'not coming', null]),
  }),
  desk_set_blind: ({ pick }) => ({ blind: pick([true, false]) }),
  desk_set_door: ({ pick }) => ({ version: 0, closed: pick([true, false]), closes_after: pick([5, null]) }),
  desk_set_letters: ({ pick }) => ({
    version: 0,
    reply_to: 'r@example.org',
    receipts: pick([true, false]),
    confirmations: false,
  }),
  desk_set_name: ({ pick }) => ({ name: pick(['Ada', 'Ben', '']) }),
  desk_set_notices: ({ pick }) => ({ notices: pick(['off', 'daily', 'each']) }),
  desk_set_places: ({ pick }) => ({ version: 0, places: pick([1, 9]), days: 5, zone: 'Europe/Berlin' }),
  desk_set_questions: ({ some, pick }) => ({
    version: 1,
    questions: some(questions),
    until: '2999-01-01',
    private_days: pick([1, 2]),
  }),
  desk_set_reads_only: ({ pick }) => ({ reads_only: pick([true, false]) }),
  // The reset after each round restores no account.
  desk_remove_organiser: () => ({ account: newId() }),
  desk_set_reader: ({ pick }) => ({
    account: (JSON.parse(pick(organisers)) as { sub: string }).sub,
    is_reader: pick([true, false]),
  }),
  desk_set_retention: ({ pick }) => ({ version: 0, months: pick([2, 3]), months_for_guests: 1 }),
  desk_set_retreat: ({ pick }) => ({
    version: 1,
    starts_on: '2020-02-01',
    ends_on: pick(['2020-02-03', '2020-02-04']),
    venue: 'v',
  }),
  desk_set_page: ({ pick }) => ({ version: pick([0, 1]), texts: { title: pick(['Slow', '']) }, shown: {} }),
  desk_tick_step: ({ pick }) => ({ step: pick(['read', 'shared']), is_done: pick([true, false]) }),
  desk_set_template: ({ pick, random }) => ({
    occasion: pick(['Travel', 'accepted']),
    version: 0,
    subject: String(random()),
    body: 'Hello',
  }),
  desk_settle: ({ some }) => ({ letters: idsOf(some(world.letters)) }),
  desk_stop: ({ pick }) => ({ stopped: pick([true, false]) }),
  desk_withdraw: ({ some }) => ({ letters: idsOf(some(world.letters)) }),
  desk_write: ({ some, pick }) => ({
    act: newId(),
    applications: idsOf(some(world.applications)),
    occasion: pick(['Travel', 'accepted', 'reminder']),
    again: true,
  }),
  desk_write_to: ({ pick }) => ({
    act: newId(),
    application: pick(world.applications).id,
    subject: 's',
    body: 'b',
  }),
}

/** The work of servers and commands. */
const work: Record<string, (choices: Choices) => Promise<unknown>> = {
  'store an application': ({ random }) =>
    owner`insert into public.retreat_applications ${valuesOf({ ...anApplication({ email: 'new@example.org', reason: String(random()) }) })}`,
  'record a result': ({ pick }) => {
    const claim = pick(world.claims)
    return pick([
      () => recordDelivery(owner, claim, { state: 'done' }),
      () => record(owner, claim, { result: 'failed', code: 550, reply: '550 no' }, 'unclear'),
      () => recordDelivery(owner, claim, { state: 'waiting', isUncertain: true }),
    ])()
  },
  'send an email': async ({ pick }) => {
    const claim = await pick([claimLetter, claimReceipt])(owner)
    if (claim) await record(owner, claim, accepted)
  },
  'send a notice': async () => {
    const claim = await claimNotice(owner)
    if (claim) await recordDelivery(owner, claim, { state: 'done' })
  },
  'send webhooks': async ({ pick }) => {
    const kind = pick(['application', 'rsvp', 'decision'] as const)
    const result = pick([
      { delivered: true, status: 200, text: '' },
      { delivered: false, status: 410, text: 'Gone' },
    ])
    await Promise.all((await claimDue(owner, kind, 5)).map((claim) => recordTry(owner, claim, result)))
  },
  'beat the heart': () => recordHeartbeat(owner, 'mail sender'),
  'tidy notices': async () => {
    await owner`update private.organisers set day_due_at = now()`
    await tidyNotices(owner)
  },
  'retry all': () => retryUndelivered(owner),
  'erase due answers': () => owner`select private.announce_and_erase_answers()`,
  'erase due applications': () => owner`select private.announce_and_erase_applications(10)`,
}

/** Refusals that a call may meet: something has changed, was erased, or is not possible now. */
const refusals = new Set(['PT409', 'PT404', 'PT429', 'PT403', 'PT503', '22023', '42501'])

test('each call that writes is played', () => {
  const writing = [...functions.values()].filter(({ isStable }) => !isStable).map(({ name }) => name)
  expect(writing.toSorted()).toEqual(Object.keys(calls).toSorted())
})

const players: Record<string, (choices: Choices) => Promise<unknown>> = {
  ...Object.fromEntries(
    Object.entries(calls).map(([name, argsOf]) => [
      name,
      (choices: Choices) => call(name, argsOf(choices), choices.pick(organisers)),
    ]),
  ),
  ...work,
}

test.each(seeds)('no two calls deadlock (seed %i)', { timeout: 1_800_000 }, async (seed) => {
  const choices = choicesOf(seed)
  const names = Object.keys(players).filter((name) => only?.includes(name) ?? true)
  const pairs = choices.shuffle(
    names.flatMap((one, index) => names.slice(index).map((other) => [one, other] as const)),
  )
  const unexpected: string[] = []
  for (let round = 0; round < (rounds || pairs.length); round += 1) {
    const [one, other] = pairs[round % pairs.length] ?? ['', '']
    await resetDatabase(owner)
    await owner`update private.postman set seen_at = now(), automation_seen_at = now()`
    await owner`update private.organisers set notices = 'each'`
    const play = async (name: string) => {
      try {
        await players[name]?.(choices)
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
        if (!refusals.has(code)) unexpected.push(`${name} failed (${code}) in ${one} + ${other}`)
      }
    }
    await Promise.all([one, other, one, other].map(play))
  }
  expect({ unexpected, deadlocks: await deadlocks() }).toEqual({ unexpected: [], deadlocks: [] })
})
