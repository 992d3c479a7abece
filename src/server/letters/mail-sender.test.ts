import { beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../../test/support/form.ts'
import { startMailServer, startTrickle } from '../../../test/support/mail-server.ts'
import { claimLetter, claimReceipt, claimTest } from '../../../test/support/claimed-emails.ts'
import { storeDueLetters } from '../../../test/support/letters.ts'
import { startMailSenderFixture, type MailSenderFixture } from '../../../test/support/mail-sender.ts'
import { mailServerAt } from '../../../test/support/sign-in-server.ts'
import { addOrganiser } from '../auth/manage-organisers.ts'
import type { Database } from '../database/database.ts'
import { claimDue } from '../deliveries/claims.ts'
import { recordHeartbeat } from '../deliveries/record-result.ts'
import { tidyNotices } from './notices.ts'
import { giveBack, record } from './outcomes.ts'
import { countLetters } from './overview.ts'
import { backOffAll } from './pause-emails.ts'
import { sqlOf, type Rows, type Sql } from '../database/connection/sql.ts'
import { countRowsRead, wrapStatements, valuesOf } from '../../../test/support/sql.ts'

let outbox: MailSenderFixture
let database: Database
let startSender: MailSenderFixture['startSender']
let advanceTime: MailSenderFixture['advanceTime']

beforeAll(async () => {
  outbox = await startMailSenderFixture()
  ;({ database, startSender, advanceTime } = outbox)
})

beforeEach(() => outbox.reset())
/** Stores a letter that is released to somebody, or a receipt. Returns its delivery's id. */
async function releaseTo(to: string, changes: { occasion?: string; subject?: string; email?: string } = {}) {
  const { email = to, occasion = 'free', subject = 'Your place' } = changes
  const application = anApplication({ email })
  const isReceipt = occasion === 'received'
  const [row] = await database.owner<[{ id: string }]>`
    with application as (
      insert into public.retreat_applications ${valuesOf(application)} returning id
    ), letter as (
      insert into private.letters (application_id, template, state)
      select id, ${occasion}, 'released' from application where not ${isReceipt}::boolean
      returning id
    )
    insert into private.deliveries (kind, application_id, letter_id, subject, body, mailbox)
    select ${isReceipt ? 'receipt' : 'letter'}, application.id, letter.id, ${subject}, ${'Hello Ada,\n\nyou are in.'},
      ${isReceipt ? email : null}
    from application left join letter on true
    returning id`
  return row.id
}

/** Releases the drafts of this occasion, without the time in which they can be stopped. */
const releaseDraft = (occasion: string) => database.owner`
  with letter as (
    update private.letters set state = 'released' where template = ${occasion} and state = 'draft' returning *
  )
  insert into private.deliveries (kind, application_id, letter_id, subject, body)
  select 'letter', application_id, id, 's', 'b' from letter`

const markArrived = (id: string) =>
  database.owner`update private.deliveries set state = 'done', done_at = now(), due_at = null where id = ${id}`

const letters = () => database.owner`
  select state, attempts, may_have_arrived, reply, due_at from private.letter_deliveries
  order by queued_at, id`
const mailSenderRow = async () => (await database.owner`select * from private.postman`)[0]
const lettersBecome = async (state: object[]) => {
  await expect.poll(letters, { timeout: 10_000 }).toMatchObject(state)
}
const header = (raw: string | undefined, name: string) =>
  new RegExp(`^${name}: (.*)\r$`, 'm').exec(raw ?? '')?.[1]

test('a released letter is sent once, with the right sender, recipient and reply address', async () => {
  await database.owner`update private.letter_settings set reply_to = 'organisers@example.org'`
  const id = await releaseTo('ada@example.com')
  const server = await startMailServer()
  const { lines } = startSender(server)
  await lettersBecome([{ state: 'sent', attempts: 1, may_have_arrived: 0, due_at: null }])
  await expect.poll(() => lines).toHaveLength(1)
  expect(server.received).toMatchObject([
    { from: 'hello@example.org', to: ['ada@example.com'], subject: 'Your place' },
  ])
  const raw = server.received[0]?.raw
  expect(header(raw, 'Message-ID')).toBe(`<${id}@example.org>`)
  expect(header(raw, 'Reply-To')).toBe('organisers@example.org')
  expect(header(raw, 'Auto-Submitted')).toBe('auto-generated')
  expect(header(raw, 'From')).toBe('"Unplugged." <hello@example.org>')
  expect(Math.abs(Date.parse(header(raw, 'Date') ?? '') - Date.now())).toBeLessThan(600_000)
  expect(raw).not.toMatch(/^X-Mailer/im)
  expect(lines).toEqual([
    {
      message: 'letter sent',
      details: {
        letterId: id,
        attempt: 1,
        outcome: 'done',
        code: 250,
        milliseconds: expect.any(Number) as number,
      },
    },
  ])
  expect(Number((await mailSenderRow())?.['seen_at'])).toBeGreaterThan(0)
})

test('user and password are sent to a mail server that asks for them', async () => {
  await releaseTo('ada@example.com')
  const server = await startMailServer({ user: { name: 'ada', password: 'p@ss' } })
  const mailServer = { ...mailServerAt(server.port), user: 'ada', password: 'p@ss' }
  startSender(server, { mailServer })
  await lettersBecome([{ state: 'sent' }])
  expect(server.received).toMatchObject([{ user: 'ada' }])
})

test('a letter that is deferred at first is sent later, with the same Message-ID', async () => {
  const id = await releaseTo('ada@example.com')
  let attempts = 0
  const server = await startMailServer({
    refusalAt: (at) =>
      at === 'RCPT TO' && (attempts += 1) === 1 ? { code: 451, text: 'come back later' } : undefined,
  })
  const { sender } = startSender(server)
  await lettersBecome([{ state: 'waiting', attempts: 1, may_have_arrived: 0, reply: '451 come back later' }])
  expect(server.received).toEqual([])
  await advanceTime(6)
  sender.wake()
  await lettersBecome([{ state: 'sent', attempts: 2, reply: '' }])
  expect(header(server.received[0]?.raw, 'Message-ID')).toBe(`<${id}@example.org>`)
  expect(await mailSenderRow()).toMatchObject({ failures: 0, problem: '' })
})

test('a letter waits for the result of an earlier one to the same person, even if the server that sent it is lost', async () => {
  const first = await releaseTo('ada@example.com', { subject: 'First' })
  await database.owner`
    insert into private.deliveries (kind, application_id, letter_id, subject, body, queued_at)
    select kind, application_id, letter_id, 'Second', body, queued_at + interval '1 second'
    from private.deliveries where id = ${first}`
  expect(await claimLetter(database.owner)).toMatchObject({ id: first, subject: 'First' })
  // The claim of a lost server ends after the second letter was due.
  await advanceTime(91)
  let attempts = 0
  const server = await startMailServer({
    refusalAt: (at) =>
      at === 'RCPT TO' && (attempts += 1) === 1 ? { code: 451, text: 'come back later' } : undefined,
  })
  const { sender } = startSender(server)
  await lettersBecome([
    { state: 'waiting', attempts: 2 },
    { state: 'waiting', attempts: 0 },
  ])
  await advanceTime(601)
  sender.wake()
  await lettersBecome([{ state: 'sent' }, { state: 'sent' }])
  expect(server.received.map(({ raw }) => header(raw, 'Subject'))).toEqual(['First', 'Second'])
})

// break: letter-log-quotes-mail-server
test.each(['RCPT TO', 'DATA'])(
  'a letter that is refused at %s is not retried, and the reply is saved but not logged',
  async (command) => {
    await releaseTo('ada@example.com')
    await releaseTo('grace@example.com')
    const server = await startMailServer({
      refusalAt: (at, address) =>
        at === command && address.startsWith('ada') ? { code: 550, text: `no ${address} here` } : undefined,
    })
    const { lines } = startSender(server)
    await lettersBecome([
      { state: 'refused', attempts: 1, due_at: null, reply: '550 no ada@example.com here' },
      { state: 'sent' },
    ])
    await expect.poll(() => lines).toHaveLength(2)
    expect(new Set(lines.map(({ details }) => details['code']))).toEqual(new Set([250, 550]))
    expect(JSON.stringify(lines)).not.toMatch(/@|here/)
  },
)

test.each([
  ['RCPT TO', 451],
  ['DATA', 452],
])('a letter whose %s gets the reply %d is retried', async (command, code) => {
  await releaseTo('ada@example.com')
  startSender(await startMailServer({ refusalAt: (at) => (at === command ? { code } : undefined) }))
  await lettersBecome([{ state: 'waiting', attempts: 1, may_have_arrived: 0 }])
  expect(await mailSenderRow()).toMatchObject({ failures: 0 })
})

const problems: [refused: string, options: Parameters<typeof startMailServer>[0], problem: RegExp][] = [
  ['the sender', { refusalAt: (at) => (at === 'MAIL FROM' ? { code: 550 } : undefined) }, /sender.*550/],
  [
    'the sender temporarily',
    { refusalAt: (at) => (at === 'MAIL FROM' ? { code: 451 } : undefined) },
    /sender.*451/,
  ],
  ['the connection', { refusalAt: (at) => (at === 'greeting' ? { code: 554 } : undefined) }, /554/],
  [
    'to go on after MAIL FROM',
    { refusalAt: (at) => (at === 'MAIL FROM' ? 'break off' : undefined) },
    /broke/,
  ],
  ['more letters', { refusalAt: (at) => (at === 'RCPT TO' ? { code: 421 } : undefined) }, /closing.*421/],
  ['the user', { user: { name: 'ada', password: 'secret' } }, /user and password.*535/],
]

test.each(problems)(
  'a mail server that refuses %s delays all letters, and none loses a try',
  async (_what, options, problem) => {
    await releaseTo('ada@example.com')
    await releaseTo('grace@example.com')
    const server = await startMailServer(options)
    const mailServer = { ...mailServerAt(server.port), user: options?.user ? 'ada' : '', password: 'wrong' }
    const { sender, lines } = startSender(server, { mailServer })
    await expect.poll(() => lines).toHaveLength(1)
    await lettersBecome([
      { state: 'waiting', attempts: 0, reply: '' },
      { state: 'waiting', attempts: 0, reply: '' },
    ])
    await sender.stop()
    expect(await mailSenderRow()).toMatchObject({
      failures: 1,
      problem: expect.stringMatching(problem) as string,
    })
    expect(lines).toMatchObject([
      {
        message: 'the mail server is unavailable; letters will be retried',
        details: { host: '127.0.0.1', port: server.port, problem: expect.stringMatching(problem) as string },
      },
    ])
    expect(JSON.stringify(lines)).not.toContain('@')
    expect(server.received).toEqual([])
  },
)

test('when the mail server is back, letters are sent and the problem is cleared', async () => {
  await releaseTo('ada@example.com')
  let isBroken = true
  const server = await startMailServer({
    refusalAt: (at) => (isBroken && at === 'MAIL FROM' ? { code: 550 } : undefined),
  })
  const { sender, lines } = startSender(server)
  await expect.poll(() => lines).toHaveLength(1)
  isBroken = false
  await advanceTime(6)
  sender.wake()
  await lettersBecome([{ state: 'sent', attempts: 1 }])
  expect(await mailSenderRow()).toMatchObject({ failures: 0, problem: '', failing_since: null })
})

test('the time of the first mail failure is stored until any email is accepted, even a test email', async () => {
  expect(await mailSenderRow()).toMatchObject({ failing_since: null })
  await backOffAll(database.owner, 'no')
  const first = await mailSenderRow()
  expect(first?.['failing_since']).toBeInstanceOf(Date)
  await advanceTime(6)
  expect(await backOffAll(database.owner, 'no')).toBe(true)
  expect(await mailSenderRow()).toMatchObject({
    failures: 2,
    failing_since: first?.['failing_since'] as Date,
  })
  await addOrganiser(database.owner, 'grace@example.org')
  await database.owner`
    insert into private.deliveries (kind, organiser_id, subject, body)
    select 'test', account_id, '[Test] s', 'b' from private.organisers`
  await advanceTime(16)
  startSender(await startMailServer())
  await expect.poll(mailSenderRow).toMatchObject({ failures: 0, problem: '', failing_since: null })
})

test('a letter is retried at once if the mail server closed the reused connection', async () => {
  let attempts = 0
  const server = await startMailServer({
    refusalAt: (at) =>
      at === 'MAIL FROM' && (attempts += 1) === 2 ? { code: 421, text: 'too many' } : undefined,
  })
  const { sender, lines } = startSender(server)
  for (const [index, name] of ['ada', 'grace'].entries()) {
    await releaseTo(`${name}@example.com`)
    sender.wake()
    await expect.poll(() => lines).toHaveLength(index + 1)
  }
  expect(server.received).toHaveLength(2)
  expect(await mailSenderRow()).toMatchObject({ failures: 0 })
})

test.each([
  ['hangs before the letter', 'RCPT TO', 'hang', 0],
  ['hangs after the letter', 'DATA', 'hang', 1],
  ['breaks off before the letter', 'RCPT TO', 'break off', 0],
  ['breaks off after the letter', 'DATA', 'break off', 1],
] as const)(
  'if the mail server %s, that letter is retried later, and the other letters are sent meanwhile',
  async (_what, command, how, mayHaveArrived) => {
    await releaseTo('ada@example.com')
    for (let index = 0; index < 8; index += 1) await releaseTo(`grace.${index}@example.com`)
    const server = await startMailServer({
      refusalAt: (at, address) => (at === command && address.startsWith('ada') ? how : undefined),
    })
    startSender(server, { timeout: 2_000 })
    await lettersBecome([
      { state: 'waiting', attempts: 1, may_have_arrived: mayHaveArrived },
      ...Array.from({ length: 8 }, () => ({ state: 'sent' })),
    ])
    expect(await mailSenderRow()).toMatchObject({ failures: 0 })
  },
)

test('handing over a letter times out even while the mail server slowly sends parts of its reply', async () => {
  await releaseTo('ada@example.com')
  const server = await startTrickle()
  const { lines } = startSender(server, { timeout: 300 })
  const problem = 'The mail server did not answer in time.'
  await expect.poll(() => lines[0]).toMatchObject({ details: { problem } })
  await expect.poll(letters).toMatchObject([{ state: 'waiting', attempts: 0, may_have_arrived: 0 }])
})

// break: two-letters-at-once
test(
  'while a letter is being sent to a person, no other letter is sent to any spelling of their address',
  { repeats: 150 },
  async () => {
    const spellings = ['Ada.L@gmail.com', ' ada.l@GMAIL.com\u00a0']
    for (const address of spellings) await releaseTo(address)
    // Which one is first is open if several servers claim at once: they are letters about different applications.
    const all = await Promise.all(Array.from({ length: 4 }, () => claimLetter(database.server)))
    const [claim, ...others] = all.filter((each) => each !== undefined)
    if (claim === undefined) throw new Error('nothing was claimed')
    expect(others).toEqual([])
    await database.owner`
    with letter as (
      insert into private.letters (application_id, template, state)
      select application_id, 'another', 'released' from private.deliveries where id = ${claim.id} returning *
    )
    insert into private.deliveries (kind, application_id, letter_id, subject, body)
    select 'letter', application_id, id, 's', 'b' from letter`
    await releaseTo('grace@example.com')
    expect(await claimLetter(database.owner)).toMatchObject({ to: 'grace@example.com' })
    expect(await claimLetter(database.owner)).toBeUndefined()
    expect(await record(database.owner, claim, { result: 'done', code: 250 })).toBe('done')
    const next = await claimLetter(database.owner)
    expect(new Set([claim.to, next?.to])).toEqual(new Set(spellings.map((each) => each.trim())))
    expect(await claimLetter(database.owner)).toBeUndefined()
    // The server dies. When the lease of its claim has expired, the next letter to this person can be claimed.
    await advanceTime(91)
    expect(await claimLetter(database.owner)).toMatchObject({ to: claim.to, attempt: 1, subject: 's' })
  },
)

test('if the mail server closes a connection in reply to a letter, only the third time counts as a failed try of the letter', async () => {
  await releaseTo('ada@example.com')
  const server = await startMailServer({
    refusalAt: (at, to) => (at === 'RCPT TO' && to.startsWith('ada') ? { code: 421 } : undefined),
  })
  const { sender, lines } = startSender(server)
  for (const [index, wait] of [6, 16].entries()) {
    await expect.poll(() => lines).toHaveLength(index + 1)
    expect(lines[index]).toMatchObject({
      message: 'the mail server is unavailable; letters will be retried',
      details: { code: 421 },
    })
    expect(await letters()).toMatchObject([{ state: 'waiting', attempts: 0 }])
    await advanceTime(wait)
    sender.wake()
  }
  await lettersBecome([{ state: 'waiting', attempts: 1, reply: expect.stringContaining('421') as string }])
  expect(await mailSenderRow()).toMatchObject({ failures: 2 })
  await releaseTo('grace@example.com')
  sender.wake()
  await lettersBecome([{ state: 'waiting', attempts: 1 }, { state: 'sent' }])
  expect(await mailSenderRow()).toMatchObject({ failures: 0, failing_since: null })
})

test('a mail server that accepts emails and drops the connection gets each email at most three times', async () => {
  await releaseTo('ada@example.com')
  await addOrganiser(database.owner, 'grace@example.org')
  await database.owner`
    insert into private.deliveries (kind, organiser_id, subject, body)
    select 'test', account_id, '[Test] s', 'b' from private.organisers`
  const accepted: string[] = []
  const server = await startMailServer({
    refusalAt: (at, to) => {
      if (at !== 'DATA') return undefined
      accepted.push(to)
      return 'break off'
    },
  })
  const { sender, lines } = startSender(server)
  // After the first two, only one email at a time is sent.
  for (const tries of [2, 3, 4, 5, 6]) {
    await expect.poll(() => lines).toHaveLength(tries)
    await advanceTime(700)
    sender.wake()
  }
  await lettersBecome([
    {
      state: 'given up',
      // The tries that paused all emails do not count. One of the first two did, which were sent at once.
      attempts: expect.toBeOneOf([1, 2]) as number,
      may_have_arrived: 3,
      due_at: null,
      reply: expect.stringMatching(/three times\. Whether it arrived is unknown/) as string,
    },
  ])
  expect(await database.owner`select state, body from private.deliveries where kind = 'test'`).toEqual([
    { state: 'failed', body: null },
  ])
  expect(accepted.toSorted()).toEqual([
    ...Array.from({ length: 3 }, () => 'ada@example.com'),
    ...Array.from({ length: 3 }, () => 'grace@example.org'),
  ])
  // Tries during which a server died count, too: after three, the letter is not sent again.
  await database.owner`
    update private.deliveries set state = 'sending', may_have_arrived = 2, due_at = now()
    where kind = 'letter' and state = 'failed'`
  expect(await claimLetter(database.owner)).toBeUndefined()
  // The mail sender still polls, so it may have claimed the letter first.
  await lettersBecome([{ state: 'given up', may_have_arrived: 3 }])
})

test('a withdrawn letter is not sent', async () => {
  const withdrawn = await releaseTo('ada@example.com')
  await database.owner`
    update private.deliveries set state = 'cancelled', recalled_at = now(), due_at = null where id = ${withdrawn}`
  await releaseTo('mary@example.com')
  const server = await startMailServer()
  startSender(server)
  await lettersBecome([{ state: 'withdrawn' }, { state: 'sent' }])
  expect(server.received.map(({ to }) => to)).toEqual([['mary@example.com']])
})

/** Sets the status of the application that a delivery is about. */
const decide = (delivery: string, status: string) => database.owner`
  insert into private.statuses (application_id, created_at, status, version)
  select application_id, now(), ${status}, 1 from private.deliveries where id = ${delivery}
  on conflict (application_id) do update set status = excluded.status, version = private.statuses.version + 1`
const statesByOccasion = () =>
  database.owner`
    select occasion, state from private.letter_deliveries
    union all select template, state from private.letters where state <> 'released'
    order by occasion, state desc`

test('a letter that was withdrawn and then refused stays withdrawn, and a letter about the current decision is drafted', async () => {
  const id = await releaseTo('ada@example.com', { occasion: 'accepted' })
  const claim = await claimLetter(database.owner)
  await decide(id, 'declined')
  await decide(id, 'accepted')
  if (claim === undefined) throw new Error('nothing was claimed')
  const refusal = { result: 'failed', code: 550, reply: '550 no' } as const
  expect(await record(database.owner, claim, refusal)).toBe('cancelled')
  expect(await statesByOccasion()).toMatchObject([
    { occasion: 'accepted', state: 'withdrawn' },
    { occasion: 'accepted', state: 'draft' },
    { occasion: 'declined', state: 'dropped' },
  ])
})

test('a letter that arrives although it was withdrawn counts as sent, and a letter about the current decision is drafted', async () => {
  const id = await releaseTo('ada@example.com', { occasion: 'declined' })
  await markArrived(id)
  await decide(id, 'accepted')
  await releaseDraft('accepted')
  const claim = await claimLetter(database.owner)
  await decide(id, 'declined')
  if (claim === undefined) throw new Error('nothing was claimed')
  expect(await record(database.owner, claim, { result: 'done', code: 250 })).toBe('done')
  expect(await statesByOccasion()).toMatchObject([
    { occasion: 'accepted', state: 'sent' },
    { occasion: 'declined', state: 'sent' },
    { occasion: 'declined', state: 'draft' },
  ])
})

test('if a withdrawn letter may have arrived, a letter about the current decision is drafted again', async () => {
  const id = await releaseTo('ada@example.com', { occasion: 'declined' })
  await markArrived(id)
  await decide(id, 'accepted')
  await releaseDraft('accepted')
  await database.owner`update private.deliveries set may_have_arrived = 1 where state = 'waiting'`
  await decide(id, 'declined')
  expect(await statesByOccasion()).toMatchObject([
    { occasion: 'accepted', state: 'withdrawn' },
    { occasion: 'declined', state: 'sent' },
    { occasion: 'declined', state: 'draft' },
  ])
})

test('a letter whose server died is retried, and the lost try counts, but a withdrawn letter is not retried', async () => {
  const [retried, withdrawn] = [await releaseTo('ada@example.com'), await releaseTo('grace@example.com')]
  const first = await claimLetter(database.owner)
  const second = await claimLetter(database.owner)
  expect([first?.id, second?.id]).toEqual([retried, withdrawn])
  await decide(withdrawn, 'declined')
  expect(await claimLetter(database.owner)).toBeUndefined()
  await advanceTime(91)
  expect(await claimLetter(database.owner)).toMatchObject({ id: retried, attempt: 2 })
  expect(await claimLetter(database.owner)).toBeUndefined()
  await recordHeartbeat(database.owner, 'mail sender')
  expect(await countLetters(database.owner)).toEqual({
    draft: 1,
    waiting: 0,
    sending: 1,
    sent: 0,
    refused: 0,
    givenUp: 0,
    withdrawn: 1,
    uncertain: 2,
    decisionsDelivered: 0,
    webhooksWaiting: 0,
    webhooksFailed: 0,
  })
  // The first server, whose lease has expired, records nothing and gives nothing back.
  if (first === undefined) throw new Error('nothing was claimed')
  expect(await record(database.owner, first, { result: 'done', code: 250 })).toBe('lost')
  await giveBack(database.owner, first)
  expect(await letters()).toMatchObject([{ state: 'sending', attempts: 2 }, { state: 'withdrawn' }])
})

test('a letter is not sent again if the database was away when the mail server accepted it', async () => {
  await releaseTo('ada@example.com')
  const server = await startMailServer()
  let failures = 0
  startSender(server, {
    sql: wrapStatements(database.server, (run, text) => {
      if (!text.includes('record_delivery') || failures === 2) return run()
      failures += 1
      return Promise.reject(new Error('The connection was lost.'))
    }),
  })
  await lettersBecome([{ state: 'sent', attempts: 1, may_have_arrived: 0 }])
  expect([failures, server.received.length]).toEqual([2, 1])
})

test('recording a result and claiming the next letter do not deadlock', async () => {
  const id = await releaseTo('ada@example.com', { occasion: 'accepted' })
  await database.owner`
    insert into private.invitations (application_id, is_accepted)
    select application_id, true from private.deliveries where id = ${id}`
  const firstClaim = await claimLetter(database.owner)
  await database.owner`
    with letter as (
      insert into private.letters (application_id, template, state)
      select application_id, 'another', 'released' from private.deliveries where id = ${id} returning *
    )
    insert into private.deliveries (kind, application_id, letter_id, subject, body)
    select 'letter', application_id, id, 's', '{{answer_link}}' from letter`
  // The first lease expires, and the other letter is the earlier one, so that it can be claimed.
  await database.owner`
    update private.deliveries set due_at = now(), queued_at = now() + interval '1 second' where id = ${id}`
  // To clear this problem, recording a sent letter locks the same row as a claim.
  await database.owner`update private.postman set failures = 1, problem = 'It was not there.'`
  const waiting = () => database.owner`select pid from pg_stat_activity where wait_event_type = 'Lock'`
  const { recorded, claimed } = await database.owner.begin(async (sql) => {
    await sql`select from private.invitations for update`
    const recording = firstClaim && record(database.owner, firstClaim, { result: 'done', code: 250 })
    await expect.poll(waiting).toHaveLength(1)
    const claiming = claimLetter(database.owner)
    await expect.poll(waiting).toHaveLength(2)
    return { recorded: recording, claimed: claiming }
  })
  expect(await recorded).toBe('done')
  expect(await claimed).toMatchObject({ subject: 's' })
})

test('after the last try a letter is given up', async () => {
  await releaseTo('ada@example.com')
  await database.owner`update private.deliveries set attempts = 9`
  startSender(await startMailServer({ refusalAt: (at) => (at === 'RCPT TO' ? { code: 451 } : undefined) }))
  await lettersBecome([{ state: 'given up', attempts: 10, due_at: null }])
  expect(await countLetters(database.owner)).toMatchObject({ givenUp: 1, uncertain: 0 })
})

test('nothing is sent while organisers have stopped all letters', async () => {
  await releaseTo('ada@example.com')
  await database.owner`update private.postman set stopped = true`
  const server = await startMailServer()
  let polls = 0
  const { sender } = startSender(server, {
    interval: 10,
    sql: wrapStatements(database.server, (run) => run().finally(() => (polls += 1))),
  })
  await expect.poll(() => polls).toBeGreaterThan(5)
  expect(await letters()).toMatchObject([{ state: 'waiting', attempts: 0 }])
  expect(server.received).toEqual([])
  await database.owner`update private.postman set stopped = false`
  sender.wake()
  await lettersBecome([{ state: 'sent' }])
})

test('two mail senders send 50 letters once each', async () => {
  for (let index = 0; index < 50; index += 1) await releaseTo(`ada.${index}@example.com`)
  const server = await startMailServer()
  startSender(server)
  startSender(server)
  await lettersBecome(Array.from({ length: 50 }, () => ({ state: 'sent', attempts: 1 })))
  expect(server.received).toHaveLength(50)
  expect(new Set(server.received.map(({ to }) => to[0])).size).toBe(50)
})

test('a test email is sent before due letters, since somebody waits for it', async () => {
  await addOrganiser(database.owner, 'waits@example.org')
  for (let index = 0; index < 40; index += 1) await releaseTo(`ada.${index}@example.com`)
  const server = await startMailServer({ pause: 10 })
  startSender(server)
  await expect.poll(() => server.received.length).toBeGreaterThan(0)
  await database.owner`
    insert into private.deliveries (kind, organiser_id, subject, body)
    select 'test', id, '[Test] s', 'b' from auth.users where email = 'waits@example.org'`
  const before = server.received.length
  await lettersBecome(Array.from({ length: 40 }, () => ({ state: 'sent' })))
  await server.waitFor(1, 'waits@example.org')
  const position = server.received.findIndex(({ to }) => to.includes('waits@example.org'))
  // At most six letters come first: one on each of five connections, and one that was already claimed.
  expect(position - before).toBeLessThanOrEqual(6)
})

test('with a rate limit, all servers together claim one letter in each interval of the limit', async () => {
  for (let index = 0; index < 4; index += 1) await releaseTo(`ada.${index}@example.com`)
  const hourly = { pause: 3_600_000 }
  const claims = await Promise.all([1, 2, 3].map(() => claimLetter(database.server, hourly)))
  expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1)
  expect(await claimLetter(database.owner, hourly)).toBeUndefined()
  const others = [await claimLetter(database.owner)]
  await database.owner`update private.postman set next_at = now()`
  others.push(await claimLetter(database.owner, hourly))
  const claimed = [...claims, ...others].flatMap((claim) => claim?.to ?? [])
  expect(new Set(claimed).size).toBe(3)
})

test('with a rate limit, the mail sender sends each letter as soon as the limit allows', async () => {
  for (let index = 0; index < 3; index += 1) await releaseTo(`ada.${index}@example.com`)
  const server = await startMailServer()
  // Only the rate limit's timer wakes the mail sender.
  startSender(server, { perMinute: 120, interval: 3_600_000 })
  await lettersBecome(Array.from({ length: 3 }, () => ({ state: 'sent' })))
  expect(server.received).toHaveLength(3)
})

test('back-offs grow to ten minutes, and concurrent failures do not extend them', async () => {
  const pauses = []
  for (let index = 0; index < 7; index += 1) {
    expect(await backOffAll(database.owner, 'no')).toBe(true)
    expect(await backOffAll(database.owner, 'no')).toBe(false)
    const [row] = await database.owner`
      select round(extract(epoch from paused_until - now()))::int as seconds, failures from private.postman`
    pauses.push(row?.['seconds'])
    await database.owner`update private.postman set paused_until = now()`
  }
  expect(pauses).toEqual([5, 15, 60, 300, 600, 600, 600])
})

const month = 30 * 24 * 3_600

/** Simulates a clock that was set back by a month: moves all stored times ahead. */
const setClockBack = () =>
  database.owner.begin(async (sql) => {
    const later = sql`+ ${month} * interval '1 second'`
    await sql`set local session_replication_role = replica`
    await sql`
      update private.postman set paused_until = paused_until ${later}, next_at = next_at ${later},
        hour_began_at = hour_began_at ${later}, seen_at = seen_at ${later}`
    await sql`update private.deliveries set due_at = due_at ${later}, queued_at = queued_at ${later}`
    await sql`
      update private.organisers set told_until = told_until ${later}, day_due_at = day_due_at ${later}`
  })

test('new emails are claimed although the clock was set back', async () => {
  const paced = { pause: 3_600_000 }
  await releaseTo('ada@example.com')
  await releaseTo('grace@example.com')
  expect(await claimLetter(database.owner, paced)).toMatchObject({ to: 'ada@example.com' })
  await backOffAll(database.owner, 'no')
  await database.owner`update private.postman set hour_began_at = now(), in_hour = 100`
  await setClockBack()
  await releaseTo('mary@example.com')
  await releaseTo('receipt@example.com', { occasion: 'received' })
  expect(await claimReceipt(database.owner, paced)).toMatchObject({
    to: 'receipt@example.com',
  })
  expect(await claimLetter(database.owner, paced)).toBeUndefined()
  expect(await claimLetter(database.owner)).toMatchObject({ to: 'mary@example.com' })
  expect(await backOffAll(database.owner, 'no')).toBe(true)
  expect(await claimLetter(database.owner)).toBeUndefined()
  // A heartbeat in the future is replaced, too.
  await recordHeartbeat(database.owner, 'mail sender')
  const [row] = await database.owner`select seen_at <= now() as is_past from private.postman`
  expect(row).toEqual({ is_past: true })
})

test('letters that wait when the clock is set back become due at once', async () => {
  const failed = { result: 'waiting', code: 451, reply: '', isUncertain: false } as const
  await releaseTo('failed@example.com')
  const letter = await claimLetter(database.owner)
  if (letter) await record(database.owner, letter, failed)
  await releaseTo('sending@example.com')
  await claimLetter(database.owner)
  await releaseTo('held@example.com')
  await database.owner`
    update private.deliveries set due_at = now() + interval '1 minute' where state = 'waiting' and attempts = 0`
  await addOrganiser(database.owner, 'grace@example.org')
  await database.owner`
    update private.organisers set notices = 'daily', day_due_at = now() + interval '20 hours'`
  await database.owner`
    insert into private.deliveries (kind, organiser_id, subject, body)
    select 'test', account_id, '[Test] s', 'b' from private.organisers`
  const testEmail = await claimTest(database.owner)
  if (testEmail) await record(database.owner, testEmail, failed)
  expect([await claimLetter(database.owner), await claimTest(database.owner)]).toEqual([undefined, undefined])

  await setClockBack()
  await recordHeartbeat(database.owner, 'mail sender')
  await tidyNotices(database.owner)
  const claims = []
  for (let claim = await claimLetter(database.owner); claim; claim = await claimLetter(database.owner)) {
    claims.push(claim)
  }
  expect(claims.map(({ to }) => to).toSorted()).toEqual([
    'failed@example.com',
    'held@example.com',
    'sending@example.com',
  ])
  // Their age is unknown, so each try counts.
  for (const { age } of claims) expect(age).toBeLessThan(0)
  expect(await claimTest(database.owner)).toMatchObject({ attempt: 2 })
  const [organiser] = await database.owner`
    select told_until <= now() as "isTold", ceil(extract(epoch from day_due_at - now()) / 3600)::int as hours
    from private.organisers`
  expect(organiser).toEqual({ isTold: true, hours: 20 })
})

test.each(['force_custom_plan', 'force_generic_plan'])(
  'a claim reads few rows, however many emails wait: %s',
  async (mode) => {
    const { owner } = database
    const count = 400
    await addOrganiser(owner, 'grace@example.org')
    const storeNotices = () => owner`
      insert into private.deliveries (kind, organiser_id, subject, body, until)
      select kind, account_id, 's', case kind when 'test' then 'b' end, case kind when 'notice' then now() end
      from private.organisers cross join unnest(array['test', 'notice']) as kind
        cross join generate_series(1, ${count}::int)`
    const waiting = owner`
      select id from private.deliveries where kind = 'letter' and state = 'waiting' limit ${count}`
    await storeDueLetters(owner, count)
    await storeNotices()
    await owner`update private.deliveries set state = 'done', due_at = null, done_at = now()`
    await storeDueLetters(owner, 3 * count, count + 1)
    await owner`
      update private.deliveries set kind = 'receipt', letter_id = null, mailbox = application_id where id in (${waiting})`
    await owner`update private.deliveries set kind = 'decision' where id in (${waiting})`
    await storeNotices()
    await owner`analyze private.letters, private.deliveries, public.retreat_applications`
    await owner.begin(async (sql) => {
      await sql.unsafe(`set local plan_cache_mode = ${mode}`)
      const read = await countRowsRead(sql, ['letters', 'deliveries'], async () => {
        expect(await claimTest(sql)).toMatchObject({ says: { subject: 's', body: 'b' } })
        expect(await claimLetter(sql)).toMatchObject({ subject: 'How to get there' })
        expect(await claimReceipt(sql)).toMatchObject({ subject: 'How to get there' })
        expect(await claimDue(sql, 'decision', 1)).toHaveLength(1)
      })
      expect(read).toBeGreaterThan(3)
      expect(read).toBeLessThan(100)
    })
  },
)

test('while nothing is due, polling makes no claim and writes nothing', async () => {
  await database.owner`update private.letter_settings set receipts = true`
  await addOrganiser(database.owner, 'grace@example.org')
  await database.owner`update private.organisers set notices = 'each'`
  // The letter is not due yet, and the receipt waits for the hourly limit.
  await releaseTo('held@example.com')
  await database.owner`update private.deliveries set due_at = now() + interval '1 hour' where kind = 'letter'`
  await releaseTo('receipt@example.com', { occasion: 'received' })
  await database.owner`update private.postman set hour_began_at = now(), in_hour = 100, seen_at = now()`
  let statements = 0
  const writes: unknown[] = []
  startSender(await startMailServer(), {
    interval: 10,
    // Each statement runs in a transaction, which has an id only if the statement wrote something.
    sql: sqlOf({
      run: <Row extends readonly unknown[]>(
        ...[text, ...rest]: Parameters<Sql['unsafe']>
      ): Promise<Rows<Row>> =>
        database.server.begin(async (transaction) => {
          const rows = await transaction.unsafe<Row>(text, ...rest)
          const [row] = await transaction`select pg_current_xact_id_if_assigned()::text as id`
          if (row?.['id'] !== null) writes.push(text)
          statements += 1
          return rows
        }),
      begin: (mode, work) => database.server.begin(mode, work),
    }),
  })
  await expect.poll(() => statements).toBeGreaterThan(20)
  expect(writes).toEqual([])
})

test('a letter to an invalid address is refused without contacting the mail server', async () => {
  await releaseTo('', { email: 'ada@example.com, eve@example.com' })
  const server = await startMailServer()
  const { lines } = startSender(server)
  await lettersBecome([{ state: 'refused', reply: 'This is not one plain address.' }])
  await expect.poll(() => lines).toHaveLength(1)
  expect(server.received).toEqual([])
  expect(JSON.stringify(lines)).not.toContain('@')
})

test('a line break in a subject adds no header', async () => {
  await releaseTo('ada@example.com', { subject: 'Hello\r\nBcc: eve@example.com\r\n\r\nyou' })
  const server = await startMailServer()
  startSender(server)
  await lettersBecome([{ state: 'sent' }])
  expect(server.received).toMatchObject([
    { to: ['ada@example.com'], subject: 'Hello Bcc: eve@example.com you' },
  ])
  expect(server.received[0]?.raw).not.toMatch(/^Bcc:/m)
})

test('stopping the mail sender does not wait for a mail server that hangs, and the unsent letter loses no try', async () => {
  await releaseTo('ada@example.com')
  let isHanging = false
  const server = await startMailServer({
    refusalAt: (at) => {
      if (at !== 'RCPT TO') return undefined
      isHanging = true
      return 'hang'
    },
  })
  const { sender } = startSender(server)
  await expect.poll(() => isHanging).toBe(true)
  await sender.stop()
  expect(await letters()).toMatchObject([{ state: 'waiting', attempts: 0, may_have_arrived: 0 }])
})
