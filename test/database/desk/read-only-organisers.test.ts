import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeEach, expect, test } from 'vitest'

import { applicationDesk } from '../../support/application-server-for-test-file.ts'
import { askDesk, type DeskHistory } from '../../support/ask-desk.ts'
import { storeLetter } from '../../support/letters.ts'
import { storeAnswers, storeQuestions } from '../../support/questions.ts'
import type { OpenedApplication } from '../../../src/client/desk/applications.ts'
import type { Organisers } from '../../../src/client/desk/marks.ts'
import { addOrganiser } from '../../../src/server/auth/manage-organisers.ts'

const desk = applicationDesk()

let reader: SupabaseClient
let readerEmail: string

beforeEach(async () => {
  // No organiser of an earlier test is left.
  await desk.server.database.owner`
    delete from auth.users where email <> ${desk.me} and id in (select account_id from private.organisers)`
  ;({ client: reader, email: readerEmail } = await desk.server.signedIn())
  await addOrganiser(desk.server.database.owner, readerEmail, { isReader: true })
})

const organisers = async (client = desk.client) =>
  (await askDesk<Organisers>(client, 'organisers', {})).organisers
const setReader = async (account: string | undefined, isReader: boolean, client = desk.client) =>
  (await askDesk<Organisers>(client, 'set_reader', { account, is_reader: isReader })).organisers
const accountOf = async (email: string) => (await organisers()).find((each) => each.email === email)?.account

// break: reader-reads-private-answers
// break: reader-reads-drafts
test('a reader gets no private answer, no draft, no text of a letter or template, and otherwise what others read', async () => {
  const { owner } = desk.server.database
  const id = await desk.store({ reason: 'To rest.' })
  await desk.decide([{ id, status: 'accepted', version: 0 }])
  await owner`update private.invitations set told_at = now(), rsvp = 'coming', rsvp_at = now()`
  const [diet = '', doctor = ''] = await storeQuestions(owner, [
    { text: 'Diet?' },
    { text: 'Doctor?', is_private: true },
  ])
  await storeAnswers(owner, id, { [diet]: 'No nuts', [doctor]: 'Quillfeather' })
  await owner`update private.templates set body = 'Quillfeather, a template.'`
  await storeLetter(owner, id, {
    template: 'waitlisted',
    state: 'done',
    subject: 'Quillfeather',
    body: 'Quillfeather',
  })
  await storeLetter(owner, id, { template: 'declined', state: 'failed', reply: '550 Quillfeather' })
  await askDesk(desk.client, 'write_to', {
    act: crypto.randomUUID(),
    application: id,
    subject: 'Quillfeather',
    body: 'A draft for Quillfeather.',
  })
  await askDesk(reader, 'note', { act: crypto.randomUUID(), application: id, note: 'Warm.' })

  const open = (client: SupabaseClient) =>
    askDesk<OpenedApplication>(client, 'application', { application: id, filter: { status: 'accepted' } })
  const whole = await open(desk.client)
  const read = await open(reader)
  expect(JSON.stringify(whole).match(/Quillfeather/g)?.length).toBeGreaterThan(6)
  const shown = [
    read,
    await askDesk(reader, 'list', { filter: {} }),
    await askDesk(reader, 'refresh', { filter: {}, zone: 'UTC', shown: [{ id, version: 1 }], oldest: null }),
    await askDesk(reader, 'mark', { act: crypto.randomUUID(), application: id, mark: 'yes', why: '' }),
  ]
  expect(JSON.stringify(shown)).not.toMatch(/Quillfeather/)
  expect(read.questions.map(({ answer, is_answered }) => [answer, is_answered])).toEqual([
    ['No nuts', true],
    [null, true],
  ])
  // A reader sees that letters were sent and whether they arrived.
  expect(read.letters.map(({ occasion, state, name }) => [occasion, state, name])).toEqual([
    ['waitlisted', 'sent', null],
    ['declined', 'given up', null],
  ])
  const { application, history, others, place, delivery, hold } = whole
  expect(read).toMatchObject({ application, history, others, place, delivery, hold })
  expect(read).not.toHaveProperty('overview')
})

test('an organiser makes another a reader and lets them do everything again, which takes effect at once and is in the history', async () => {
  const account = await accountOf(readerEmail)
  expect(await askDesk(reader, 'me', {})).toEqual({ email: readerEmail, reader: true })
  await expect(askDesk(reader, 'door', {})).rejects.toMatchObject({ code: '42501' })
  expect(await setReader(account, false)).toEqual(await organisers())
  expect(await askDesk(reader, 'me', {})).toEqual({ email: readerEmail })
  await askDesk(reader, 'door', {})
  // The same again is no event.
  await setReader(account, false)
  await setReader(account, true)
  await expect(setReader(account, false, reader)).rejects.toMatchObject({ code: '42501' })
  expect(await organisers()).toContainEqual({
    account,
    email: readerEmail,
    name: null,
    is_reader: true,
    has_signed_in: true,
    invited: null,
  })
  const { happenings } = await askDesk<DeskHistory>(desk.client, 'history', {})
  expect(happenings.map(({ author, kind, detail }) => [author, kind, detail])).toEqual([
    [desk.me, 'organiser', { organiser: readerEmail, is_reader: true }],
    [desk.me, 'organiser', { organiser: readerEmail, is_reader: false }],
    ['operator', 'organiser', { organiser: readerEmail, is_reader: true }],
  ])
})

// break: everybody-becomes-reader
test('the last organiser who may do everything cannot become a reader, even if two make each other readers at once', async () => {
  const me = await accountOf(desk.me)
  await expect(setReader(me, true)).rejects.toMatchObject({
    code: '22023',
    message: 'Let another organiser do everything first: somebody has to.',
  })
  const account = await accountOf(readerEmail)
  await setReader(account, false)
  const outcomes = await Promise.allSettled([setReader(account, true), setReader(me, true, reader)])
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const [row] = await desk.server.database.owner`
    select count(*)::int as remaining from private.organisers where not is_reader`
  expect(row).toEqual({ remaining: 1 })
})

test('an organiser may make themselves a reader if another may do everything', async () => {
  await setReader(await accountOf(readerEmail), false)
  expect(await setReader(await accountOf(desk.me), true)).toHaveLength(2)
  expect(await askDesk(desk.client, 'me', {})).toEqual({ email: desk.me, reader: true })
})
