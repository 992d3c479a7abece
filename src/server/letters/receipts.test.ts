import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../../testing/form.ts'
import { startOutbox, type TestOutbox } from '../../../testing/postman.ts'
import type { Application } from '../../application/application.ts'
import { addOrganiser } from '../auth/organisers.ts'
import { beat, claimDue } from './outbox.ts'

let outbox: TestOutbox

beforeAll(async () => {
  outbox = await startOutbox()
})

beforeEach(async () => {
  await outbox.empty()
  await switched(true)
})
afterEach(() => outbox.end())
afterAll(() => outbox.close())

const sql = () => outbox.database.owner
const switched = (receipts: boolean) => sql()`update private.letter_settings set receipts = ${receipts}`

/** Somebody applies, as everybody does; gives the application's id. */
async function apply(changes: Partial<Application> = {}) {
  const answers = { ...anApplication({ email: `${crypto.randomUUID()}@example.org` }), ...changes }
  const [row] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${sql()({ ...answers })} returning id`
  return row.id
}

const receipts = () =>
  sql()<{ application_id: string; state: string; subject: string; body: string; mailbox: string }[]>`
    select application_id, state, subject, body, mailbox from private.letters
    where occasion = 'received' order by created_at, id`

const claimReceipt = () => claimDue(sql(), { isReceipt: true })

const setTemplate = (subject: string, body: string) =>
  sql()`update private.templates set subject = ${subject}, body = ${body} where occasion = 'received'`

test('whoever applies is sent a receipt, once somebody switched it on', async () => {
  await switched(false)
  await apply()
  expect(await receipts()).toEqual([])
  await switched(true)
  const id = await apply({ first_name: 'Zoë', email: 'Zoe@example.org' })
  const server = await outbox.receiver()
  outbox.postmanFor(server)
  const [mail] = await server.count(1, 'Zoe@example.org')
  expect(mail).toMatchObject({ subject: 'We have your application' })
  expect(mail?.text).toContain('Hello Zoë,')
  await expect.poll(receipts).toMatchObject([{ application_id: id, state: 'sent' }])
  expect(server.received).toHaveLength(1)
})

test('who is refused, or stored already, is sent none', async () => {
  const answers = anApplication()
  await apply(answers)
  await expect(apply(answers)).rejects.toMatchObject({ code: '23505' })
  await sql()`update private.door set closed = true`
  await expect(apply()).rejects.toMatchObject({ code: 'PT403' })
  await sql()`update private.door set closed = false`
  expect(await receipts()).toHaveLength(1)
})

test.each([
  'ada@example.org',
  'ADA@Example.ORG',
  'ada+1@example.org',
  'Ada+2+3@example.org',
  ' ada@example.org ',
])('a mailbox has one receipt a day, also written as “%s”', async (email) => {
  await apply({ first_name: 'First', email: 'ada@example.org' })
  await apply({ first_name: 'Second', email })
  expect(await receipts()).toMatchObject([{ mailbox: 'ada@example.org' }])
  await outbox.pass(86_401)
  await apply({ first_name: 'Third', email })
  expect(await receipts()).toHaveLength(2)
})

test('of many at the same moment one is sent to a mailbox, and no application is refused', async () => {
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      outbox.database.asOwner(async (lane) => {
        const answers = anApplication({ first_name: `Ada ${index}`, email: `ada+${index}@example.org` })
        await lane`insert into public.retreat_applications ${lane({ ...answers })}`
      }),
    ),
  )
  const [stored] = await sql()`select count(*)::int as count from public.retreat_applications`
  expect(stored).toEqual({ count: 40 })
  expect(await receipts()).toHaveLength(1)
})

test('two in one transaction, and two that wait for each other, are stored', async () => {
  const mailbox = { email: 'ada@example.org' }
  const insert = (first_name: string) => ({ ...anApplication({ first_name, ...mailbox }) })
  await sql().begin(async (one) => {
    await one`insert into public.retreat_applications ${one(insert('First'))}`
    await one`insert into public.retreat_applications ${one(insert('Second'))}`
    // Does not wait for the first, whose transaction is still open.
    await outbox.database.asOwner(async (other) => {
      await other`insert into public.retreat_applications ${other(insert('Third'))}`
    })
  })
  expect(await receipts()).toHaveLength(1)
})

test.each([
  'a, b@example.org',
  'nobody',
  'a@b@c',
  '"a b"@example.org',
  `${'a'.repeat(255)}@example.org`,
  // The same domain as another one once a mail is on its way.
  'ada@ｅxample.org',
  'ada@example。org',
  'ada@exam\ufe0fple.org',
])('to what is no plain address none is written: %s', async (email) => {
  await apply({ email })
  expect(await receipts()).toEqual([])
})

test.each([
  ['Ada', 'Hello Ada, it is here.'],
  ['  Ada  ', 'Hello Ada, it is here.'],
  ['Jean-Luc O’Neil 王', 'Hello Jean-Luc O’Neil 王, it is here.'],
  ['A'.repeat(40), `Hello ${'A'.repeat(40)}, it is here.`],
  ['{{first_name}}', 'Hello {{first_name}}, it is here.'],
  ['A'.repeat(41), 'Hello, it is here.'],
  ['evil.example', 'Hello, it is here.'],
  ['evil。example', 'Hello, it is here.'],
  ['http://evil', 'Hello, it is here.'],
  ['www evil', 'Hello, it is here.'],
  ['mail me@evil', 'Hello, it is here.'],
  ['Ada\nEve', 'Hello, it is here.'],
  ['Ada\r', 'Hello, it is here.'],
  ['Ada\u2028Eve', 'Hello, it is here.'],
  ['\u202eAda', 'Hello, it is here.'],
  [' ', 'Hello, it is here.'],
])('a first name that may be more than a name is left out: “%s”', async (name, text) => {
  await setTemplate('For {{first_name}}: thanks', 'Hello {{ first_name }}, it is here.')
  await apply({ first_name: name })
  expect(await receipts()).toMatchObject([
    { body: text, subject: text.startsWith('Hello,') ? 'For: thanks' : `For ${name.trim()}: thanks` },
  ])
})

test('letters go before receipts, and the hour has a total of them', async () => {
  for (let index = 0; index < 102; index += 1) await apply()
  // A letter that is due later than all of them.
  const letter = await apply({ first_name: 'Letter' })
  await sql()`
    insert into private.letters
      (application_id, occasion, state, subject, body, released_at, status_version, due_at)
    values (${letter}, 'free', 'waiting', 's', 'b', now(), 0, clock_timestamp())`
  const server = await outbox.receiver()
  outbox.postmanFor(server)
  const sent = () => sql()`select application_id from private.letters where state = 'sent' order by sent_at`
  await expect.poll(sent).toHaveLength(101)
  expect((await sent()).slice(0, 5)).toContainEqual({ application_id: letter })
  await outbox.end()
  await outbox.pass(3_601)
  expect(await claimReceipt()).toMatchObject({ to: expect.any(String) as string })
  expect(await claimReceipt()).toBeDefined()
  expect(await claimReceipt()).toBeDefined()
  expect(await claimReceipt()).toBeUndefined()
})

test('however many receipts wait, an organiser hears of applications', async () => {
  const email = `${crypto.randomUUID()}@example.org`
  await addOrganiser(sql(), email)
  for (let index = 0; index < 100; index += 1) await apply()
  await sql()`
    update private.organisers set notices = 'each'
    where account_id = (select id from auth.users where email = ${email})`
  await apply()
  const server = await outbox.receiver()
  outbox.postmanFor(server)
  await server.count(1, email)
  await expect.poll(() => sql()`select id from private.letters where state = 'sent'`).toHaveLength(99)
})

test('who comes late mails no backlog', async () => {
  await apply()
  await outbox.pass(86_401)
  await apply({ email: 'new@example.org' })
  expect(await claimReceipt()).toMatchObject({ to: 'new@example.org' })
  expect(await claimReceipt()).toBeUndefined()
  await beat(sql(), 'postman')
  expect((await receipts()).map(({ state }) => state).toSorted()).toEqual(['sending', 'withdrawn'])
})

test('decisions leave a receipt as it is, and no draft is made of it', async () => {
  const id = await apply()
  await sql()`
    insert into private.statuses (application_id, created_at, status, version) values (${id}, now(), 'accepted', 1)`
  await sql()`update private.statuses set status = 'new', version = 2`
  expect(await receipts()).toMatchObject([{ state: 'waiting' }])
  expect(await claimReceipt()).toMatchObject({ applicationId: id })
})

test('an application is stored also where its receipt cannot be written', async () => {
  await sql()`alter table private.letters add constraint none_today check (occasion <> 'received') not valid`
  const id = await apply()
  await sql()`alter table private.letters drop constraint none_today`
  expect(await sql()`select id from public.retreat_applications`).toEqual([{ id }])
  expect(await receipts()).toEqual([])
})
