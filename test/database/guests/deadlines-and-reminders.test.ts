import { expect, test } from 'vitest'

import { claimLetter } from '../../support/claimed-emails.ts'
import { storeSentLetters } from '../../support/letters.ts'
import type { ApplicationDetails } from '../../../src/client/desk/applications.ts'
import type { ReminderOutcome } from '../../../src/client/desk/retreat.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import { retryUndelivered } from '../../../src/server/letters/overview.ts'
import { retreatDesk, site, tokenIn } from '../../support/invitation-server-for-test-file.ts'
import { countRowsRead } from '../../support/sql.ts'

const {
  client,
  me,
  sql,
  ask,
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
} = retreatDesk()

test('organisers set the deadline, the reminder quotes it, and nobody is reminded twice in three days or after an RSVP', async () => {
  const { id, token } = await invite()
  await passDeadline(id)
  expect(await places()).toMatchObject({ no_answer: 1, late: 1, to_remind: 1 })
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({
    drafted: 1,
    late: 1,
    waiting: 0,
    reminded: 0,
    more: false,
  })
  expect(await places()).toMatchObject({ no_answer: 1, to_remind: 0 })
  expect(await release(id)).toBe('missing')
  const act = crypto.randomUUID()
  const day = await dayIn(3)
  const { history } = await ask<ApplicationDetails>('keep_until', { act, application: id, until: day })
  expect(history.at(-1)).toMatchObject({ kind: 'kept', author: me(), detail: { until: day } })
  await expect(
    ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(-1) }),
  ).rejects.toMatchObject({ code: '22023' })
  expect(await release(id)).toBe('released')
  const { body } = await send()
  expect(tokenIn(body)).toBe(token)
  expect(body).toContain(
    `until ${new Date(`${day}T00:00Z`).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })}.`,
  )
  await passHalf()
  // No call reminds anybody twice in three days.
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0, reminded: 1 })
  expect(await ask('write', { applications: [id], occasion: 'reminder', again: true })).toMatchObject([
    { outcome: 'written', state: 'sent' },
  ])
  expect(await places()).toMatchObject({ to_remind: 0 })
  await passThreeDays()
  expect(await places()).toMatchObject({ to_remind: 1 })
  // A repeat after a lost response gets the same result. The other calls have no act id, like those of desks of version 1.0.
  const reminding = { act: crypto.randomUUID() }
  for (let time = 0; time < 2; time += 1)
    expect(await ask<ReminderOutcome>('remind', reminding)).toMatchObject({ drafted: 1, late: 0 })
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0, waiting: 1 })
  // A person with an RSVP is no longer reminded.
  await sendRsvp(token, 'coming')
  expect((await lettersOf(id)).filter(({ state }) => state === 'draft')).toEqual([])
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0, waiting: 0, reminded: 0 })
})

test('nobody is reminded before half of the days from their letter to their deadline are over, and the count says the same', async () => {
  const { id } = await invite()
  const toldBefore = (hours: number) =>
    sql()`update private.invitations set told_at = now() - ${hours} * interval '1 hour'`
  /** The number that the desk shows before reminders are drafted. */
  const counted = async () => (await places()).to_remind
  expect(await counted()).toBe(0)
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0, waiting: 0, reminded: 0 })
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(4) })
  await toldBefore(4 * 24 - 1)
  expect(await counted()).toBe(0)
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0 })
  await toldBefore(4 * 24)
  expect(await counted()).toBe(1)
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 1 })
})

/** Invites a person and releases their reminder, but does not send it. */
async function inviteAndRemind() {
  const invited = await invite()
  await passHalf()
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 1 })
  expect(await release(invited.id)).toBe('released')
  return invited
}

/** Claims a due letter, as a server does before it hands the letter over. */
async function claimDue() {
  const claimed = await claimLetter(sql())
  if (claimed === undefined) throw new Error('no letter is due')
  return claimed
}

const remindersOf = async (id: string) =>
  (await lettersOf(id)).filter(({ occasion }) => occasion === 'reminder').map(({ state }) => state)
const deferred = { result: 'waiting', code: 451, reply: '451 later', isUncertain: false } as const

/** Makes the statements of a transaction act as the signed-in organiser. */
async function actAsOrganiser(transaction: Sql) {
  const { data } = await client().auth.getClaims()
  await transaction`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
}
/** Resolves when a call waits for a lock. */
async function somebodyWaits() {
  await expect.poll(() => sql()`select from pg_stat_activity where wait_event_type = 'Lock'`).toHaveLength(1)
}

test('a letter quotes the deadline that an organiser sets while the letter is being sent', async () => {
  const id = await store()
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  const day = await dayIn(3)
  const { sent } = await sql().begin(async (setting) => {
    await actAsOrganiser(setting)
    await setting`select desk_keep_until(gen_random_uuid(), ${id}, ${day})`
    const sending = send()
    await somebodyWaits()
    // In an object, because the transaction would wait for a promise that it returns.
    return { sent: sending }
  })
  const [row] = await sql()<[{ shown: string }]>`select to_char(${day}::date, 'FMDD FMMonth YYYY') as shown`
  expect((await sent).body).toContain(`until ${row.shown}.`)
  expect((await details(id)).application).toMatchObject({ kept_until: day })
})

// break: deadline-overwritten-by-repeat
test('a repeated change of a deadline after a lost response does not overwrite a later change', async () => {
  const { id } = await invite()
  const first = { act: crypto.randomUUID(), application: id, until: await dayIn(3) }
  const { repeated } = await sql().begin(async (setting) => {
    await actAsOrganiser(setting)
    await setting`select desk_keep_until(${first.act}, ${id}, ${first.until})`
    await setting`select desk_keep_until(gen_random_uuid(), ${id}, ${await dayIn(5)})`
    const repeat = ask<ApplicationDetails>('keep_until', first)
    await somebodyWaits()
    return { repeated: repeat }
  })
  expect((await repeated).application).toMatchObject({ kept_until: await dayIn(5) })
})

test('an acceptance after a rejection gets a new deadline, counted from the handover of its letter', async () => {
  const { id } = await invite()
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(3) })
  await decide(id, 'declined')
  expect(await release(id)).toBe('released')
  await send()
  await decide(id, 'accepted')
  expect(await release(id, true)).toBe('released')
  const claim = await claimDue()
  expect(await record(sql(), claim, deferred)).toBe('waiting')
  // As if the deferred attempt, which set the deadline, was eight days ago.
  await sql()`
    update private.invitations set deadline = private.today() + 2 where application_id = ${id}`
  await sql()`update private.deliveries set due_at = now() where kind = 'letter' and state = 'waiting'`
  await send()
  expect((await details(id)).application).toMatchObject({ kept_until: await dayIn(10) })
})

test('a refused reminder is not retried after its recipient gave an RSVP', async () => {
  const { id } = await inviteAndRemind()
  expect(await record(sql(), await claimDue(), { result: 'failed', code: 550, reply: '550 no' })).toBe(
    'failed',
  )
  await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
  expect(await retryUndelivered(sql())).toBe(0)
  expect(await remindersOf(id)).toEqual(['withdrawn'])
})

test('a reminder is given up once its deadline has passed, and can be retried after the deadline is moved', async () => {
  const { id } = await inviteAndRemind()
  await passDeadline(id)
  expect(await claimLetter(sql())).toBeUndefined()
  const [givenUp] = (await lettersOf(id)).filter(({ occasion }) => occasion === 'reminder')
  expect(givenUp).toMatchObject({ state: 'given up', answer: 'The last day to answer has passed.' })
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 0 })
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(2) })
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 1 })
  await send()
  expect(await remindersOf(id)).toEqual(['sent'])
})

test.each([
  ['a letter to one person with the deadline', { occasion: '', body: 'Until {{reply_by}}, please.' }],
  ['a letter to one person with the link', { occasion: '', body: 'Here: {{answer_link}}' }],
  ['a letter of a template with the deadline', { occasion: 'Rooms', body: 'Until {{reply_by}}, please.' }],
  ['an acceptance whose deadline an organiser set', { occasion: 'accepted', body: '' }],
])('%s is not sent after the deadline until the deadline is moved', async (_what, { occasion, body }) => {
  const moveDeadline = (id: string, days: number) =>
    dayIn(days).then((until) => ask('keep_until', { act: crypto.randomUUID(), application: id, until }))
  const { id } = occasion === 'accepted' ? { id: await store() } : await invite()
  if (occasion === '') {
    await ask('write_to', { act: crypto.randomUUID(), application: id, subject: 'Coming?', body })
  } else if (occasion === 'accepted') {
    await decide(id, 'accepted')
    await moveDeadline(id, 1)
  } else {
    await ask('set_template', { occasion, version: null, subject: 'Coming?', body })
    await ask('write', { applications: [id], occasion })
  }
  expect(await release(id)).toBe('released')
  await passDeadline(id)
  expect(await claimLetter(sql())).toBeUndefined()
  const [givenUp] = (await lettersOf(id)).filter(({ state }) => state !== 'sent')
  expect(givenUp).toMatchObject({ state: 'given up', answer: 'The last day to answer has passed.' })
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 0 })
  await moveDeadline(id, 2)
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 1 })
  await send()
})

test('an acceptance that did not arrive before its deadline is drafted again and sent with a later deadline', async () => {
  const id = await store()
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  expect(await record(sql(), await claimDue(), { result: 'failed', code: 550, reply: '550 no' })).toBe(
    'failed',
  )
  await passDeadline(id)
  await decide(id, 'new')
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  expect((await send()).body).toContain(`${site}/answer/#`)
  expect((await details(id)).application).toMatchObject({ kept_until: await dayIn(10) })
})

test('a reminder that does not quote the deadline is sent even after the deadline', async () => {
  const { id } = await invite()
  await passDeadline(id)
  await ask('remind')
  const draft = (await lettersOf(id)).find(({ state }) => state === 'draft')
  await ask('edit', {
    letter: draft?.id,
    seen: draft?.seen,
    subject: 'Still there?',
    body: 'Please call us.',
  })
  expect(await release(id)).toBe('released')
  expect(await send()).toMatchObject({ body: 'Please call us.' })
})

test('a reminder that is being sent when the RSVP arrives is not retried, and nothing is drafted', async () => {
  const { id, token } = await inviteAndRemind()
  // As if a letter without a template had told them of the acceptance.
  await sql()`
    update private.letters set template = null, subject = 'Welcome', body = 'You have a place.'
    where application_id = ${id} and template = 'accepted'`
  const claimed = await claimDue()
  await sendRsvp(token, 'coming')
  expect(await remindersOf(id)).toEqual(['sending'])
  expect(await record(sql(), claimed, deferred)).toBe('cancelled')
  expect((await lettersOf(id)).map(({ state }) => state).toSorted()).toEqual(['sent', 'withdrawn'])
})

test('a reminder that a server claims at the moment of an RSVP is not reported as stopped', async () => {
  const { id, token } = await inviteAndRemind()
  const { answering } = await sql().begin(async (claiming) => {
    await claiming`
      select from private.deliveries as waiting, private.claim_one(waiting.id, '90 seconds')
      where waiting.kind = 'letter' and waiting.state = 'waiting'`
    const call = sendRsvp(token, 'coming')
    await expect
      .poll(
        () =>
          sql()`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%answer_place%'`,
      )
      .toHaveLength(1)
    return { answering: call }
  })
  await answering
  expect(await remindersOf(id)).toEqual(['sending'])
  const [claimed] = await sql()<[{ id: string; attempt: number }]>`
    select id, attempts as attempt from private.deliveries where state = 'sending'`
  expect(await record(sql(), { ...claimed, age: 0 }, { result: 'done', code: 250 })).toBe('done')
  expect(await remindersOf(id)).toEqual(['sent'])
})

test('reminding reads only the letters that were not sent, however many were sent', async () => {
  const [{ id }, drafted, released] = [await invite(), await invite(), await invite()]
  await ask('write', { applications: [drafted.id, released.id], occasion: 'reminder' })
  expect(await release(released.id)).toBe('released')
  await storeSentLetters(sql(), 2000)
  await passHalf()
  const read = await sql().begin((transaction) =>
    countRowsRead(transaction, ['letters', 'deliveries'], async () => {
      const [found] = await transaction<[{ wanted: string[] }]>`
        select wanted from private.to_remind('reminder', 1, private.today())`
      expect(found.wanted).toEqual([id])
    }),
  )
  // The draft, and the delivery and the letter of the released reminder.
  expect(read).toBe(3)
})
