import { beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { startMailSenderFixture, type MailSenderFixture } from '../../support/mail-sender.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { claimReceipt as claimReceiptOf } from '../../support/claimed-emails.ts'
import { trimmed } from '../../../src/application/blank.ts'
import type { Application } from '../../../src/application/application.ts'
import { addOrganiser } from '../../../src/server/auth/manage-organisers.ts'
import { recordHeartbeat } from '../../../src/server/deliveries/record-result.ts'
import { valuesOf } from '../../support/sql.ts'

let outbox: MailSenderFixture

beforeAll(async () => {
  outbox = await startMailSenderFixture()
})

beforeEach(async () => {
  await outbox.reset()
  await setReceipts(true)
})
const sql = () => outbox.database.owner
const setReceipts = (receipts: boolean) => sql()`update private.letter_settings set receipts = ${receipts}`

/** Applies with an email domain that no other application has; returns the application's id. */
async function apply(changes: Partial<Application> = {}) {
  const answers = { ...anApplication({ email: `ada@company-${crypto.randomUUID()}.org` }), ...changes }
  const [row] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...answers })} returning id`
  return row.id
}

const receipts = () =>
  sql()<{ application_id: string; state: string; subject: string; body: string; mailbox: string }[]>`
    select delivery.application_id, delivery.state, delivery.subject, delivery.body, mailbox
    from private.letter_deliveries as delivery join private.deliveries using (id)
    where occasion = 'received' order by delivery.queued_at, id`

const claimReceipt = () => claimReceiptOf(sql())

const setTemplate = (subject: string, body: string) =>
  sql()`update private.templates set subject = ${subject}, body = ${body} where name = 'received'`

test('an applicant is sent a receipt once somebody has switched receipts on', async () => {
  await setReceipts(false)
  await apply()
  expect(await receipts()).toEqual([])
  await setReceipts(true)
  await sql()`update private.places set site = 'https://example.org'`
  const id = await apply({ first_name: 'Zoë', email: 'Zoe@example.org' })
  const server = await startMailServer()
  outbox.startSender(server)
  const [mail] = await server.waitFor(1, 'Zoe@example.org')
  expect(mail).toMatchObject({ subject: 'We have your application' })
  expect(mail?.text).toContain('Hello Zoë,')
  const [link] = await sql()<[{ token: string }]>`select token from private.withdrawal_links`
  const address = `https://example.org/withdraw/#${link.token}`
  expect(mail?.text).toContain(`If you change your mind, you can withdraw it here: ${address}\n`)
  expect(mail?.text).toContain(`href="${address}"`)
  expect(mail?.text).not.toContain('>Answer<')
  await expect.poll(receipts).toMatchObject([{ application_id: id, state: 'sent' }])
  expect(server.received).toHaveLength(1)
})

test('a refused or repeated application gets no receipt', async () => {
  const answers = anApplication()
  await apply(answers)
  await expect(apply(answers)).rejects.toMatchObject({ code: '23505' })
  await sql()`update private.door set closed = true`
  await expect(apply()).rejects.toMatchObject({ code: 'PT403' })
  await sql()`update private.door set closed = false`
  expect(await receipts()).toHaveLength(1)
})

/** Mailboxes, each with other spellings of its address. The address with `’` has no known mailbox, since it is not ASCII. */
const spellings: Record<string, string[]> = {
  'ada@example.org': ['Ada@Example.ORG', 'ada+1@example.org', 'ADA+2+3@example.org', 'ada+@example.org'],
  'eve@example.com': ['eve@example.com.', 'EVE+x@EXAMPLE.com.'],
  'a.b@example.net': ['A.B+c.d@example.net'],
  'o’hara@example.net': [],
  "o'hara@example.net": [],
  'ab@example.net': [],
  'a-b@example.net': [],
  'a_b@example.net': [],
  'a.da@gmail.com': [
    'ada@gmail.com',
    'A.D.A+1@Gmail.com',
    'ad.a@googlemail.com',
    'ada@GoogleMail.com.',
    'ada+x.y@gmail.com.',
  ],
  'a-da@gmail.com': [],
  'ada.l@icloud.com': ['ada.l@me.com', 'Ada.L+1@mac.com'],
  'adal@icloud.com': [],
  'ada.l@proton.me': ['ada_l@protonmail.com', 'ad-al@pm.me', 'a.d.a.l+1@protonmail.ch'],
  'ada.l@yandex.ru': ['ada-l@ya.ru', 'ada.l@yandex.com'],
  'ada@yahoo.com': ['ada-1@yahoo.com', 'ada-shop-2@yahoo.com'],
  'ada.l@yahoo.com': [],
  'ada@yahoo.co.uk': ['ada-1@yahoo.co.uk'],
  'ada@xn--bcher-kva.example': ['ADA@XN--Bcher-kva.example'],
}
/** Other addresses whose mailbox is unknown. */
const unclear = [
  ['nobody', '@', 'ada@', '@example.org', 'a@b@example.org', 'a, b@example.org'],
  // The mail server may forward these, or pass them to a program.
  [
    'ada%example.com@example.org',
    'example.com!ada@example.org',
    '@example.com:ada@example.org',
    '|ada@example.org',
  ],
  [
    'ada=example.com@example.org',
    'ada/x@example.org',
    '-ada@example.org',
    '+ada@example.org',
    '~ada@example.org',
  ],
  ['"ada"@example.org', '"a b"@example.org', 'a"d"a@example.org', '"ada@example.com"@example.org'],
  ['a b@example.org', ' ada@example.org', 'ada@example.org ', 'ada@example.org\n', 'ada\t@example.org'],
  ['ada(x)@example.org', '<ada@example.org>', 'ada\\@example.org', 'ada;eve@example.org'],
  ['.ada@example.org', 'ada.@example.org', 'a..da@example.org', 'ada.+1@gmail.com'],
  [
    'ada@localhost',
    'ada@intranet',
    'ada@com.',
    'ada@127.0.0.1',
    'ada@[127.0.0.1]',
    'ada@[IPv6:::1]',
    'ada@2130706433',
  ],
  [
    'ada@example..org',
    'ada@.example.org',
    'ada@-example.org',
    'ada@example-.org',
    'ada@example.org..',
    'ada@example.o',
  ],
  ['ada@exam_ple.org', 'ada@example.org:25', 'ada@example.org/x'],
  // Mail servers may take these for another domain or name.
  [
    'ada@ｅxample.org',
    'ada@example。org',
    'ada@exam\ufe0fple.org',
    'ａda@example.org',
    'ad\u200ba@example.org',
    'adá@example.org',
  ],
  ['_@proton.me', `${'a'.repeat(250)}@example.org`],
].flat()

// break: receipt-for-each-spelling
test('a mailbox gets one receipt a day, in any spelling of its address, and an unknown mailbox gets none', async () => {
  const addresses = Object.entries(spellings).flat(2)
  expect(addresses.length + unclear.length).toBeGreaterThan(80)
  for (const email of [...addresses, ...unclear]) await apply({ email, first_name: email.slice(0, 200) })
  const recipients = async () =>
    (
      await sql()`
        select email from private.letter_deliveries join public.retreat_applications as application on application.id = application_id
        where occasion = 'received' order by queued_at`
    ).map(({ email }) => String(email))
  const firstSpellings = Object.keys(spellings).filter((email) => email !== 'o’hara@example.net')
  expect(await recipients()).toEqual(firstSpellings)
  await outbox.advanceTime(86_401)
  await apply({ email: 'ADA@example.org' })
  expect(await recipients()).toEqual([...firstSpellings, 'ADA@example.org'])
})

test('a company’s domain gets twenty receipts a day, even concurrently, and each mailbox of a public provider gets one', async () => {
  const receiptsAt = (domain: string) => async () =>
    (await receipts()).filter(({ mailbox }) => mailbox.endsWith(domain)).length
  await Promise.all(
    Array.from(
      { length: 30 },
      (_, index) =>
        outbox.database
          .server`insert into public.retreat_applications ${valuesOf(anApplication({ email: `ada.${index}@${index % 3}.example.co.uk` }))}`,
    ),
  )
  for (let index = 0; index < 25; index += 1) await apply({ email: `eve.${index}@example.co.uk` })
  expect(await receiptsAt('example.co.uk')()).toBe(20)
  for (let index = 0; index < 25; index += 1) await apply({ email: `ada${index}@gmail.com` })
  expect(await receiptsAt('@gmail.com')()).toBe(25)
  await apply({ email: 'ada@another.co.uk' })
  expect(await receiptsAt('another.co.uk')()).toBe(1)
  await outbox.advanceTime(86_401)
  await apply({ email: 'mary@example.co.uk' })
  expect(await receiptsAt('example.co.uk')()).toBe(21)
})

test('of many concurrent applications with one mailbox, all are stored and one gets a receipt', async () => {
  await Promise.all(
    Array.from(
      { length: 40 },
      (_, index) =>
        outbox.database
          .server`insert into public.retreat_applications ${valuesOf(anApplication({ first_name: `Ada ${index}`, email: `ada+${index}@example.org` }))}`,
    ),
  )
  const [stored] = await sql()`select count(*)::int as count from public.retreat_applications`
  expect(stored).toEqual({ count: 40 })
  expect(await receipts()).toHaveLength(1)
})

test('applications with one mailbox are stored, in one transaction or concurrently, and one gets a receipt', async () => {
  const mailbox = { email: 'ada@example.org' }
  const applicationOf = (first_name: string) => ({ ...anApplication({ first_name, ...mailbox }) })
  await sql().begin(async (transaction) => {
    await transaction`insert into public.retreat_applications ${valuesOf(applicationOf('First'))}`
    await transaction`insert into public.retreat_applications ${valuesOf(applicationOf('Second'))}`
    // The third does not wait for the transaction of the first two.
    await outbox.database.server`insert into public.retreat_applications ${valuesOf(applicationOf('Third'))}`
  })
  expect(await receipts()).toHaveLength(1)
})

test.each([
  ['Ada', 'Hello Ada, it is here.'],
  ['  Ada  ', 'Hello Ada, it is here.'],
  ['Jean-Luc O’Neil 王', 'Hello Jean-Luc O’Neil 王, it is here.'],
  ['A'.repeat(40), `Hello ${'A'.repeat(40)}, it is here.`],
  // The handover would read it as a placeholder.
  ['{{first_name}}', 'Hello, it is here.'],
  ['{{answer_link}}', 'Hello, it is here.'],
  ['A'.repeat(41), 'Hello, it is here.'],
  ['evil.example', 'Hello, it is here.'],
  ['evil。example', 'Hello, it is here.'],
  ['http://evil', 'Hello, it is here.'],
  ['www evil', 'Hello, it is here.'],
  ['mail me@evil', 'Hello, it is here.'],
  ['Ada\nEve', 'Hello, it is here.'],
  ['Ada\r', 'Hello Ada, it is here.'],
  ['Ada\u2028Eve', 'Hello, it is here.'],
  ['\u202eAda\u200b', 'Hello Ada, it is here.'],
  ['A\u202eda', 'Hello, it is here.'],
  [' ', 'Hello, it is here.'],
  ['\u00a0', 'Hello, it is here.'],
  ['\u200b\u3164', 'Hello, it is here.'],
  ['Maria del Carmen Souza', 'Hello Maria del Carmen Souza, it is here.'],
  ['Ọlá Đặng आदित्य', 'Hello Ọlá Đặng आदित्य, it is here.'],
  ['you won a free phone', 'Hello, it is here.'],
  ['you\u00a0won\u2003a\u200bfree\u3000phone', 'Hello, it is here.'],
  ['Call 0800', 'Hello, it is here.'],
  ['Call ０８', 'Hello, it is here.'],
  ['Call ٠٨', 'Hello, it is here.'],
  ['Call ⑧', 'Hello, it is here.'],
  ...[
    '·',
    '․',
    '…',
    '•',
    '‧',
    '∙',
    '⋅',
    '・',
    '･',
    '。',
    '｡',
    '．',
    '﹒',
    '۔',
    '꘎',
    'ꓸ',
    '𐄁',
    '܁',
    '⁄',
    '∶',
  ].map((dot): [string, string] => [`evil${dot}example`, 'Hello, it is here.']),
])('a receipt has the first name, unless it looks like a link or a message: “%s”', async (name, text) => {
  await setTemplate('For {{first_name}}: thanks', 'Hello {{ first_name }}, it is here.')
  await apply({ first_name: name })
  expect(await receipts()).toMatchObject([
    { body: text, subject: text.startsWith('Hello,') ? 'For: thanks' : `For ${trimmed(name)}: thanks` },
  ])
})

/** Pretends that this many of the hundred receipts and notices an hour were claimed. */
const setClaimedInHour = (count: number) =>
  sql()`update private.postman set hour_began_at = now(), in_hour = ${count}`

test('letters are sent before receipts, which have a limit per hour', async () => {
  await setClaimedInHour(90)
  for (let index = 0; index < 12; index += 1) await apply()
  // A letter that is due later than all receipts.
  const recipient = await apply({ first_name: 'Letter' })
  await sql()`
    with letter as (
      insert into private.letters (application_id, template, state) values (${recipient}, 'free', 'released') returning *
    )
    insert into private.deliveries (kind, application_id, letter_id, subject, body, due_at)
    select 'letter', application_id, id, 's', 'b', clock_timestamp() from letter`
  const server = await startMailServer()
  const { sender } = outbox.startSender(server)
  const sent = () =>
    sql()`select application_id from private.letter_deliveries where state = 'sent' order by done_at`
  await expect.poll(sent).toHaveLength(11)
  // Five connections send at once, so the letter is among the first five emails.
  expect((await sent()).slice(0, 5)).toContainEqual({ application_id: recipient })
  await sender.stop()
  await outbox.advanceTime(3_601)
  const claims = [await claimReceipt(), await claimReceipt(), await claimReceipt()]
  expect(new Set(claims.flatMap((claim) => claim?.id ?? [])).size).toBe(3)
  expect(await claimReceipt()).toBeUndefined()
})

test('an organiser gets notices of applications, however many receipts wait', async () => {
  const email = `${crypto.randomUUID()}@example.org`
  await addOrganiser(sql(), email)
  await setClaimedInHour(90)
  for (let index = 0; index < 10; index += 1) await apply()
  await sql()`
    update private.organisers set notices = 'each'
    where account_id = (select id from auth.users where email = ${email})`
  await apply()
  const server = await startMailServer()
  outbox.startSender(server)
  await server.waitFor(1, email)
  // The limit allows ten more emails: the notice and nine receipts.
  await expect
    .poll(() => sql()`select id from private.letter_deliveries where state = 'sent'`)
    .toHaveLength(9)
})

test('a server that starts after a day does not send the old receipts', async () => {
  await apply()
  await outbox.advanceTime(86_401)
  await apply({ email: 'new@example.org' })
  expect(await claimReceipt()).toMatchObject({ to: 'new@example.org' })
  expect(await claimReceipt()).toBeUndefined()
  await recordHeartbeat(sql(), 'mail sender')
  expect((await receipts()).map(({ state }) => state).toSorted()).toEqual(['sending', 'withdrawn'])
})

test('a receipt that was recalled while it was being sent is withdrawn when its lease expires', async () => {
  await apply()
  await claimReceipt()
  await sql()`select private.recall(array(select id from private.deliveries where kind = 'receipt'), 'ada@example.org')`
  await recordHeartbeat(sql(), 'mail sender')
  expect(await receipts()).toMatchObject([{ state: 'sending' }])
  await outbox.advanceTime(91)
  await recordHeartbeat(sql(), 'mail sender')
  expect(await receipts()).toMatchObject([{ state: 'withdrawn' }])
})

test('decisions do not withdraw a receipt', async () => {
  const id = await apply()
  await sql()`
    insert into private.statuses (application_id, created_at, status, version) values (${id}, now(), 'accepted', 1)`
  await sql()`update private.statuses set status = 'new', version = 2`
  expect(await receipts()).toMatchObject([{ state: 'waiting' }])
  expect(await claimReceipt()).toMatchObject({ subject: 'We have your application' })
  expect(await receipts()).toMatchObject([{ application_id: id, state: 'sending' }])
})

test('an application is stored even if its receipt cannot be written', async () => {
  await sql()`alter table private.deliveries add constraint none_today check (kind <> 'receipt') not valid`
  const id = await apply()
  await sql()`alter table private.deliveries drop constraint none_today`
  expect(await sql()`select id from public.retreat_applications`).toEqual([{ id }])
  expect(await receipts()).toEqual([])
})
