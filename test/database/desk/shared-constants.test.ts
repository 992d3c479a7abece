import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import {
  closedSentence,
  maxPerCall,
  maxCharacters,
  maxQuestions,
  maxUnconfirmed,
  pageSize,
  privateDays,
} from '../../../src/application/limits.ts'
import { statuses } from '../../../src/application/statuses.ts'
import type { Page, ListedApplication } from '../../../src/client/desk/applications.ts'
import type { LettersOverview } from '../../../src/client/desk/letters.ts'
import type { Question } from '../../../src/application/questions.ts'
import type { Questions } from '../../../src/client/desk/questions.ts'
import type { Door } from '../../../src/client/desk/retreat.ts'
import { mayAskForRsvp } from '../../../src/pages/desk/letters/letters.ts'
import { isOfDecision } from '../../../src/pages/desk/letters/told.ts'
import { isAddress } from '../../../src/server/mail/compose.ts'
import { mailSenderState } from '../../../src/server/letters/overview.ts'
import { valuesOf } from '../../support/sql.ts'

let server: SignInServer
let client: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  ;({ client } = await server.signedIn())
})

beforeEach(async () => {
  const { owner } = server.database
  await resetDatabase(owner)
  const rows = Array.from({ length: pageSize + 1 }, () => ({ ...anApplication() }))
  await owner`insert into public.retreat_applications ${valuesOf(rows)}`
  await owner`update private.postman set seen_at = now()`
})

const ask = <Result>(name: string, args: object = {}) => askDesk<Result>(client, name, args)

async function anId() {
  const [row] = await server.database.owner<
    { id: string }[]
  >`select id from public.retreat_applications limit 1`
  return row?.id ?? ''
}

const newId = () => crypto.randomUUID()
const ids = (count: number) => Array.from({ length: count }, newId)
const versionOf = async (name: 'door' | 'letters') =>
  name === 'door'
    ? (await ask<Door>('door')).version
    : (await ask<LettersOverview>('letters')).settings.version
const template = (changes: object) =>
  ask('set_template', { version: null, occasion: newId(), subject: 's', body: 'b', ...changes })

const aQuestion = (changes: Partial<Question>): Question => ({
  id: newId(),
  kind: 'short',
  text: 'When do you arrive?',
  choices: [],
  is_required: false,
  is_private: false,
  ...changes,
})
const setQuestions = async (questions: Question[]) => {
  const { version } = await ask<Questions>('questions')
  return ask('set_questions', { version, questions, until: null, private_days: null })
}

/** For each field: writes a text of this many characters into the field. */
const write: Record<keyof typeof maxCharacters, (length: number) => Promise<unknown>> = {
  sentence: async (length) => {
    const noLimits = { closes_at: null, closes_after: null }
    const sentence = '🌲'.repeat(length)
    return ask('set_door', { version: await versionOf('door'), closed: false, sentence, ...noLimits })
  },
  why: async (length) =>
    ask('mark', { act: newId(), application: await anId(), mark: 'yes', why: '🌲'.repeat(length) }),
  note: async (length) => ask('note', { act: newId(), application: await anId(), note: '🌲'.repeat(length) }),
  occasion: (length) => template({ occasion: '🌲'.repeat(length) }),
  subject: (length) => template({ subject: '🌲'.repeat(length) }),
  body: (length) => template({ body: '🌲'.repeat(length) }),
  address: async (length) =>
    ask('set_letters', {
      version: await versionOf('letters'),
      receipts: false,
      reply_to: anAddress(length),
    }),
  hold: async (length) =>
    ask('hold', { act: newId(), application: await anId(), reason: '🌲'.repeat(length) }),
  question: (length) => setQuestions([aQuestion({ text: '🌲'.repeat(length) })]),
  option: (length) =>
    setQuestions([aQuestion({ kind: 'choice', choices: ['🌲'.repeat(length), 'Another'] })]),
  async answer(length) {
    const question = aQuestion({})
    await setQuestions([question])
    const application = await anId()
    await server.database.owner`
      insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, 'accepted', 1 from public.retreat_applications where id = ${application}
      on conflict do nothing`
    return ask('answer_questions', {
      act: newId(),
      application,
      answers: { [question.id]: '🌲'.repeat(length) },
    })
  },
  edition: (length) => ask('name_edition', { edition: 1, name: '🌲'.repeat(length) }),
  organiser: (length) => ask('set_name', { name: '🌲'.repeat(length) }),
  venue: async (length) => {
    const [row] = await server.database.owner<[{ version: number }]>`
      select calendar_sequence as version from private.editions`
    return ask('set_retreat', { ...row, starts_on: null, ends_on: null, venue: '🌲'.repeat(length) })
  },
}

const anAddress = (length: number) => `${'a'.repeat(length - '@example.org'.length)}@example.org`

test.each(Object.keys(maxCharacters) as (keyof typeof maxCharacters)[])(
  'the database stores as many characters as the desk lets people type, and no more: %s',
  async (field) => {
    await write[field](maxCharacters[field])
    await expect(write[field](maxCharacters[field] + 1)).rejects.toMatchObject({ code: '22023' })
  },
)

test('the database accepts as many questions, and as many days until private answers are erased, as the desk offers, and no more', async () => {
  const questions = (count: number) => ids(count).map((id) => aQuestion({ id, text: id }))
  await setQuestions(questions(maxQuestions))
  await expect(setQuestions(questions(maxQuestions + 1))).rejects.toMatchObject({ code: '22023' })
  const eraseAfter = async (days: number) => {
    const { version } = await ask<Questions>('questions')
    const privateQuestions = [aQuestion({ is_private: true })]
    return ask('set_questions', { version, questions: privateQuestions, until: null, private_days: days })
  }
  await eraseAfter(privateDays.max)
  for (const days of [0, privateDays.max + 1])
    await expect(eraseAfter(days)).rejects.toMatchObject({ code: '22023' })
})

test('the mail sender accepts addresses as long as the desk does, and no longer', () => {
  expect(isAddress(anAddress(maxCharacters.address))).toBe(true)
  expect(isAddress(anAddress(maxCharacters.address + 1))).toBe(false)
})

/** Letters that do not exist. A call still counts them. */
const letters = (count: number) => ids(count).map((id) => ({ id, seen: 'never' }))

test.each<[string, (count: number) => object]>([
  [
    'decide',
    (count) => ({ act: newId(), decisions: ids(count).map((id) => ({ id, status: 'new', version: 0 })) }),
  ],
  [
    'meanwhile',
    (count) => ({ filter: {}, shown: ids(count).map((id) => ({ id, version: 0 })), oldest: null }),
  ],
  ['list', (count) => ({ filter: {}, after: null, most: count })],
  ['letters_of', (count) => ({ applications: ids(count) })],
  ['letter_states', (count) => ({ applications: ids(count) })],
  ['write', (count) => ({ applications: ids(count), occasion: 'accepted' })],
  ['release', (count) => ({ act: newId(), letters: letters(count), number: count, again: false })],
  ['withdraw', (count) => ({ letters: ids(count) })],
  ['retry', (count) => ({ letters: ids(count) })],
  ['discard', (count) => ({ letters: ids(count) })],
])('a call accepts as many items as the desk sends at once, and no more: %s', async (name, argsOf) => {
  await ask(name, argsOf(maxPerCall))
  await expect(ask(name, argsOf(maxPerCall + 1))).rejects.toMatchObject({ code: '22023' })
})

test('without a stated count, a call may release as many letters as the desk allows, and no more', async () => {
  const release = (count: number) =>
    ask('release', { act: newId(), letters: letters(count), number: null, again: false })
  await release(maxUnconfirmed)
  await expect(release(maxUnconfirmed + 1)).rejects.toMatchObject({ code: '22023' })
})

test('a page of the list is as long as the desk expects', async () => {
  const { applications, next } = await ask<Page<ListedApplication>>('list', { filter: {} })
  expect(applications).toHaveLength(pageSize)
  expect(next).not.toBeNull()
})

test('the desk has the same statuses as the database', async () => {
  const { counts } = await ask<{ counts: object }>('overview', { filter: {}, zone: 'UTC' })
  expect(Object.keys(counts).toSorted()).toEqual(['all', ...Object.keys(statuses)].toSorted())
})

test('the desk and the database agree on which letters tell a decision and which may ask for an RSVP', async () => {
  const occasions = [...Object.keys(statuses), 'received', 'reminder', 'Travel', '']
  const fromDatabase = await server.database.owner<{ occasion: string }[]>`
    select occasion, private.is_decision(occasion), private.may_ask_for_rsvp(occasion) as may_ask
    from unnest(${occasions}::text[]) as occasion`
  const fromDesk = occasions.map((occasion) => ({
    occasion,
    is_decision: isOfDecision(occasion),
    may_ask: mayAskForRsvp(occasion),
  }))
  expect(fromDatabase).toEqual(fromDesk)
})

test('a door that is closed without a sentence refuses with the default sentence that the desk shows', async () => {
  await ask('set_door', {
    version: await versionOf('door'),
    closed: true,
    sentence: '',
    closes_at: null,
    closes_after: null,
  })
  const { error } = await server.client().from('retreat_applications').insert(anApplication())
  expect(error).toMatchObject({ code: 'PT403', message: closedSentence })
})

test.each([
  [59, true],
  [61, false],
  // The clock was set back.
  [-10, false],
])(
  'a mail sender whose last heartbeat is %i s old counts as running at the desk and for the commands: %s',
  async (age, isRunning) => {
    const { owner } = server.database
    await owner`update private.postman set seen_at = now() - ${age} * interval '1 second'`
    expect((await ask<LettersOverview>('letters')).postman.is_there).toBe(isRunning)
    expect((await mailSenderState(owner)).isRunning).toBe(isRunning)
  },
)
