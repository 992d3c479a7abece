import type { SupabaseClient } from '@supabase/supabase-js'
import { Webhook } from 'standardwebhooks'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { atTestEnd } from '../../../testing/cleanup.ts'
import { claimLetter } from '../../../testing/claims.ts'
import { anApplication } from '../../../testing/form.ts'
import { recordLog } from '../../../testing/postman.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { startSignIn, type SignInServer } from '../../../testing/sign-in.ts'
import type { Letter, LettersOverview } from '../../client/desk/letters.ts'
import type { Places } from '../../client/desk/retreat.ts'
import { record } from '../letters/outcomes.ts'
import { countLetters, listUndelivered, retryUndelivered } from '../letters/overview.ts'
import { startDispatcher } from './dispatcher.ts'
import { outboxOf } from './outbox.ts'
import { wrapStatements, valuesOf } from '../../../testing/sql.ts'

const outbox = outboxOf('decision')
const claimDecisions = () => outbox.claimDue(sql(), 10)
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let server: SignInServer
let client: SupabaseClient
/** The status with which automations respond. */
let answersWith = 200

beforeAll(async () => {
  server = await startSignIn()
  ;({ client } = await server.signedIn())
})

beforeEach(async () => {
  await sql()`delete from public.retreat_applications`
  await sql()`delete from private.postman`
  await sql()`insert into private.postman default values`
  await sql()`update private.letter_settings set hold = '0'`
})

const sql = () => server.database.owner

/** An automation, and a server that tells it. */
async function automation(...given: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...given)
  const { log, lines } = recordLog()
  const tell = () => {
    const dispatcher = startDispatcher({
      sql: server.database.server,
      outbox,
      receiver: { url: `${receiver.origin}/hook`, secret },
      log,
      interval: 50,
    })
    return atTestEnd(() => dispatcher.stop())
  }
  const stop = tell()
  await expect
    .poll(async () => (await ask<LettersOverview>('letters')).postman.is_automation_there)
    .toBe(true)
  return { receiver, lines, tell, stop }
}

async function ask<Answer>(name: string, args: object = {}): Promise<Answer> {
  const { data, error } = await client.rpc(`desk_${name}`, args)
  if (error) throw error
  return data as Answer
}

async function store(email = 'ada@example.org') {
  const answers = anApplication({ email })
  const [row] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...answers })} returning id`
  return row.id
}

const versions = new Map<string, number>()
async function decide(id: string, status: string) {
  const decisions = [{ id, status, version: versions.get(id) ?? 0 }]
  const [outcome] = await ask<{ version: number }[]>('decide', { act: crypto.randomUUID(), decisions })
  versions.set(id, outcome?.version ?? 0)
}

async function send(occasion = 'accepted', act = crypto.randomUUID()) {
  const { letters } = await ask<{ letters: Letter[] }>('drafts', { occasion })
  await ask('release', { act, letters: letters.map(({ id, seen }) => ({ id, seen })) })
  return act
}

const mailIsThere = () => sql()`update private.postman set seen_at = now()`
const lettersOf = (id: string) => ask<Letter[]>('letters_of', { applications: [id] })
const states = async (id: string) =>
  (await lettersOf(id)).map(({ way, state }) => `${way}: ${state}`).toSorted()

test('an automation is told of a decision when an organiser sends it, and not when it is made', async () => {
  const { receiver } = await automation()
  const id = await store('zoe+1@example.org')
  await decide(id, 'accepted')
  expect(await states(id)).toEqual(['mail: draft'])
  const [decided] = await sql()<
    [{ at: Date }]
  >`select max(at) as at from private.history where kind = 'status'`
  await sql()`update private.postman set problem = 'no mail'`
  await send()
  const [request] = await receiver.waitFor(1)
  expect(request).toMatchObject({
    method: 'POST',
    url: '/hook',
    headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
  })
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
    id,
    email: 'zoe+1@example.org',
    status: 'accepted',
    decidedAt: decided.at.toISOString(),
    replyBy: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
  })
  const { headers, body = '' } = request ?? {}
  const verify = () => new Webhook(secret).verify(body, headers as Record<string, string>)
  // The signed body is not JSON: the signature is right if only that is reported.
  expect(verify).toThrow(SyntaxError)
  // It is told instead of a letter.
  await expect.poll(() => states(id)).toEqual(['automation: sent'])
  expect(receiver.received).toHaveLength(1)
  // It says nothing about the mail server.
  expect(await sql()`select problem from private.postman`).toEqual([{ problem: 'no mail' }])
})

test('an automation is told the RSVP link and deadline, and the RSVPs in their order', async () => {
  await sql()`update private.places set site = 'https://unplugged.example', days = 7`
  const { receiver } = await automation((_request, response) => response.writeHead(answersWith).end())
  const id = await store()
  await decide(id, 'accepted')
  await send()
  const [decision] = await receiver.waitFor(1)
  const [kept] = await sql()<[{ token: string; day: string }]>`
    select token, deadline::text as day from private.invitations where application_id = ${id}`
  expect(Object.fromEntries(new URLSearchParams(decision?.body))).toMatchObject({
    answerLink: `https://unplugged.example/answer/#${kept.token}`,
    replyBy: kept.day,
  })
  await expect.poll(async () => (await ask<Places>('places')).no_answer).toBe(1)

  const answers = startDispatcher({
    sql: server.database.server,
    outbox: outboxOf('rsvp'),
    receiver: { url: `${receiver.origin}/hook`, secret },
    log: recordLog().log,
    interval: 50,
  })
  atTestEnd(() => answers.stop())
  // The first one fails at first, and the ones behind it wait for it.
  answersWith = 500
  await sql()`select public.answer_place(${kept.token}, 'coming', gen_random_uuid())`
  await receiver.waitFor(2)
  await sql()`select public.answer_place(${kept.token}, 'not coming', gen_random_uuid())`
  await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: null })
  await expect
    .poll(async () => (await listUndelivered(sql())).map(({ reply }) => reply))
    .toEqual(['HTTP 500'])
  expect(await countLetters(sql())).toMatchObject({ webhooksWaiting: 3, webhooksFailed: 0 })
  answersWith = 200
  await sql()`update private.deliveries set due_at = now() where kind = 'rsvp' and state = 'waiting' and attempts > 0`
  const told = (await receiver.waitFor(5)).slice(1).map(({ body, headers }) => ({
    ...Object.fromEntries(new URLSearchParams(body)),
    webhookId: headers['webhook-id'],
  }))
  expect(told[0]).toEqual(told[1])
  const at = expect.stringMatching(/^\d{4}-.*Z$/) as string
  const webhookId = expect.any(String) as string
  const of = (answer: string) => ({
    event: 'answer',
    id,
    email: 'ada@example.org',
    answer,
    answeredAt: at,
    webhookId,
  })
  expect(told.slice(1)).toEqual([of('coming'), of('not coming'), of('none')])
  await expect
    .poll(
      () => sql()`select from private.deliveries where kind = 'rsvp' and state not in ('done', 'cancelled')`,
    )
    .toHaveLength(0)
})

test('an RSVP that was given up is not told after a later one, even on a retry', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const answer = (given: string) =>
    ask('set_answer', { act: crypto.randomUUID(), application: id, answer: given })
  /** The next delivery of an automation, and its reply. */
  const claimed = async () => {
    const rsvps = outboxOf('rsvp')
    const claims = await rsvps.claimDue(sql(), 10)
    const end = (status: number) =>
      Promise.all(
        claims.map((claim) => rsvps.record(sql(), claim, { delivered: status === 200, status, text: '' })),
      )
    return { told: claims.map(({ body }) => body.get('answer')), end }
  }
  await answer('not coming')
  expect(await (await claimed()).end(410)).toEqual(['given up'])
  await answer('coming')
  const coming = await claimed()
  expect(coming.told).toEqual(['coming'])
  // Neither beside it nor behind it.
  expect(await retryUndelivered(sql())).toBe(0)
  expect((await claimed()).told).toEqual([])
  expect(await coming.end(410)).toEqual(['given up'])
  // Both were given up: they are told in their order.
  expect(await retryUndelivered(sql())).toBe(2)
  const first = await claimed()
  expect(first.told).toEqual(['not coming'])
  expect(await first.end(410)).toEqual(['given up'])
  const second = await claimed()
  expect(second.told).toEqual(['coming'])
  expect(await second.end(200)).toEqual(['delivered'])
  expect(await retryUndelivered(sql())).toBe(0)
  expect(
    await sql()`select from private.deliveries where kind = 'rsvp' and state not in ('done', 'cancelled')`,
  ).toHaveLength(0)
})

test('an RSVP is queued only where an automation was told of some within a day', async () => {
  const queuedAfter = async (hours: number) => {
    await sql()`update private.postman set automation_seen_at = now() - ${hours} * interval '1 hour'`
    const id = await store()
    await decide(id, 'accepted')
    await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
    return (await sql()`select from private.deliveries where kind = 'rsvp' and application_id = ${id}`).length
  }
  expect([await queuedAfter(25), await queuedAfter(23)]).toEqual([0, 1])
})

/** A mail server accepts the letter that is due, or replies `451`. */
async function carry(outcome: 'sent' | 'retry' = 'sent') {
  const mail = await claimLetter(sql())
  if (mail === undefined) throw new Error('no letter is due')
  const retry = { outcome: 'retry', code: 451, reply: 'later', isUncertain: false } as const
  await record(sql(), mail, outcome === 'sent' ? { outcome, code: 250 } : retry)
}

test('beside a mail server an automation is told what the email has told, and nothing before', async () => {
  const { receiver } = await automation()
  await mailIsThere()
  const id = await store()
  await decide(id, 'accepted')
  const act = await send()
  await carry('retry')
  expect(await states(id)).toEqual(['mail: waiting'])
  expect(await ask('withdraw', { act })).toEqual({ withdrawn: 1, left: 0 })
  await send()
  await carry()
  const [request] = await receiver.waitFor(1)
  expect(new URLSearchParams(request?.body).get('status')).toBe('accepted')
  await expect.poll(() => states(id)).toEqual(['automation: sent', 'mail: sent', 'mail: withdrawn'])
})

test('a letter that arrives although it was stopped is told to an automation once, and so are later ones', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const act = await send()
  const mail = await claimLetter(sql())
  if (mail === undefined) throw new Error('no letter is due')
  await ask('withdraw', { act })
  await decide(id, 'declined')
  await record(sql(), mail, { outcome: 'retry', code: null, reply: 'It broke off.', isUncertain: true })
  await send('declined')
  await carry()
  const told = async () => {
    const [claim] = await claimDecisions()
    if (claim) await outbox.record(sql(), claim, { delivered: true, status: 200, text: '' })
    return claim?.body.get('status')
  }
  expect([await told(), await told(), await told()]).toEqual(['accepted', 'declined', undefined])
})

test('an automation that is told a rejection sets no deadline of a person who was accepted since', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'declined')
  await send('declined')
  await carry()
  await decide(id, 'accepted')
  const [told] = await claimDecisions()
  expect(told?.body.get('status')).toBe('declined')
  expect(told?.body.has('replyBy')).toBe(false)
  expect(await sql()`select deadline from private.invitations where application_id = ${id}`).toEqual([
    { deadline: null },
  ])
})

test('an automation is not told letters that were sent by hand, or sent while none was running', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await lettersOf(id)
  await ask('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  await sql()`update private.postman set automation_seen_at = now() - interval '25 hours'`
  await decide(id, 'declined')
  await send('declined')
  await carry()
  expect(await states(id)).toEqual(['mail: sent', 'mail: sent'])
})

test('a decision for an automation beside a sent email can be stopped, and no further letter is drafted', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const release = async () => {
    const { letters } = await ask<{ letters: Letter[] }>('drafts', { occasion: 'accepted' })
    const given = letters.map(({ id: letter, seen }) => ({ id: letter, seen }))
    await ask('release', { act: crypto.randomUUID(), letters: given, again: true })
    const mail = await claimLetter(sql())
    if (mail === undefined) throw new Error('no letter is due')
    await record(sql(), mail, { outcome: 'sent', code: 250 })
  }
  await release()
  await ask('write', { applications: [id], occasion: 'accepted', again: true })
  await release()
  const beside = (await lettersOf(id)).filter(({ way }) => way === 'automation')
  expect(beside).toHaveLength(2)
  await ask('withdraw', { letters: beside.map((each) => each.id) })
  expect(await states(id)).toEqual([
    'automation: withdrawn',
    'automation: withdrawn',
    'mail: sent',
    'mail: sent',
  ])
})

test('an acceptance that an automation tells in place of an email is not told after its deadline', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const until = (days: number) =>
    sql()`select (private.today() + ${days}::integer)::text as day`.then(([row]) => String(row?.['day']))
  const keep = async (day: string) =>
    ask('keep_until', { act: crypto.randomUUID(), application: id, until: day })
  await keep(await until(1))
  await send()
  await sql()`update private.invitations set deadline = private.today() - 1`
  expect(await claimDecisions()).toEqual([])
  const [given] = await lettersOf(id)
  expect(given).toMatchObject({
    way: 'automation',
    state: 'given up',
    answer: 'The last day to answer has passed.',
  })
  const later = await until(2)
  await keep(later)
  expect(await ask('retry', { letters: [given?.id] })).toEqual({ retried: 1 })
  const [told] = await claimDecisions()
  expect(told).toMatchObject({ id: given?.id })
  expect(told?.body.get('replyBy')).toBe(later)
})

test('an organiser who decides on several people and a server that tells of them do not block each other', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const ids = [await store('ada@example.org'), await store('bob@example.org')]
  for (const id of ids) await decide(id, 'accepted')
  await send()
  const waiting = () => sql()`select pid from pg_stat_activity where wait_event_type = 'Lock'`
  for (const order of [ids, ids.toReversed()]) {
    await sql()`update private.deliveries set state = 'waiting', due_at = now() where kind = 'decision'`
    const { claimed } = await sql().begin(async (deciding) => {
      await deciding`select from private.invitations where application_id = ${order[0] ?? ''} for update`
      const claiming = claimDecisions()
      await expect.poll(waiting).toHaveLength(1)
      await deciding`select from private.invitations where application_id = ${order[1] ?? ''} for update`
      return { claimed: claiming }
    })
    expect(await claimed).toHaveLength(2)
  }
})

test('an organiser who erases somebody and a server that tells of their RSVPs do not block each other', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const answer = (given: string) =>
    ask('set_answer', { act: crypto.randomUUID(), application: id, answer: given })
  await answer('coming')
  const rsvps = outboxOf('rsvp')
  const [failed] = await rsvps.claimDue(sql(), 10)
  if (failed) await rsvps.record(sql(), failed, { delivered: false, status: 410, text: '' })
  await answer('not coming')
  const [telling] = await rsvps.claimDue(sql(), 10)
  const waiting = () => sql()`select pid from pg_stat_activity where wait_event_type = 'Lock'`
  const { erased, recorded } = await sql().begin(async (transaction) => {
    await transaction`select from private.deliveries where id = ${failed?.id ?? ''} for update`
    const erasing = ask('erase', { applications: [id], email: 'ada@example.org' })
    await expect.poll(waiting).toHaveLength(1)
    const recording = telling && rsvps.record(sql(), telling, { delivered: true, status: 200, text: '' })
    await expect.poll(waiting).toHaveLength(2)
    return { erased: erasing, recorded: recording }
  })
  expect(await erased).toEqual({ erased: 1 })
  expect(await recorded).toBe('lost')
})

test('a decision that changes before it is told is not told, and the current one is drafted', async () => {
  await sql()`update private.letter_settings set hold = '1 hour'`
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await decide(id, 'declined')
  expect(await states(id)).toEqual(['automation: withdrawn', 'mail: draft'])
  await sql()`update private.deliveries set due_at = now() where due_at is not null`
  expect(await claimDecisions()).toEqual([])
})

test('a decision that changes while it is told is told again only in its current state', async () => {
  const asked: (() => void)[] = []
  const { receiver } = await automation((_request, response) => {
    asked.push(() => response.writeHead(500).end())
  })
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await expect.poll(() => asked).toHaveLength(1)
  await decide(id, 'declined')
  asked[0]?.()
  await expect.poll(() => states(id)).toEqual(['automation: withdrawn', 'mail: draft'])
  expect(receiver.received).toHaveLength(1)
})

test('a failed delivery is retried with the same id, and one with 410 is not', async () => {
  let status = 500
  const { receiver, lines } = await automation((request, response) =>
    response.writeHead(status, { 'retry-after': '3600' }).end(request.body.replace('%40', '@')),
  )
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await receiver.waitFor(1)
  await expect.poll(() => states(id)).toEqual(['automation: waiting'])
  const [failed] = await lettersOf(id)
  expect(failed).toMatchObject({ attempts: 1, answer: 'HTTP 500', uncertain: 0 })
  // It asked to wait for an hour.
  expect(Date.parse(failed?.due_at ?? '') - Date.now()).toBeGreaterThan(3_500_000)
  status = 410
  await sql()`update private.deliveries set due_at = now() where kind = 'decision'`
  const [first, second] = await receiver.waitFor(2)
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  await expect.poll(() => states(id)).toEqual(['automation: refused'])
  expect(await countLetters(sql())).toMatchObject({
    decisionsDelivered: 0,
    webhooksWaiting: 0,
    webhooksFailed: 1,
    refused: 0,
  })
  status = 200
  const [refused] = await lettersOf(id)
  expect(await ask('retry', { letters: [refused?.id] })).toEqual({ retried: 1 })
  await expect.poll(() => states(id)).toEqual(['automation: sent'])
  expect(JSON.stringify(lines)).not.toContain('ada@example.org')
})

test('a decision that certainly did not reach the automation was not told, and the deadline counts from when it is', async () => {
  await sql()`update private.places set days = 7`
  const { receiver } = await automation()
  await receiver.close()
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await expect
    .poll(() => lettersOf(id))
    .toMatchObject([{ state: 'waiting', uncertain: 0, answer: 'No connection was made.' }])
  const place = () => sql()`
    select told_at, deadline - current_date as days from private.invitations where application_id = ${id}`
  expect(await place()).toEqual([{ told_at: null, days: 7 }])
  // It was back a day later.
  await sql()`update private.invitations set deadline = deadline - 1`
  await startReceiver(undefined, Number(new URL(receiver.origin).port))
  await sql()`update private.deliveries set due_at = now() where kind = 'decision'`
  await expect.poll(() => states(id)).toEqual(['automation: sent'])
  expect(await place()).toEqual([{ told_at: expect.any(Date) as Date, days: 7 }])
})

test('a try that a stop aborts may have told the automation', async () => {
  const { receiver, stop } = await automation(() => {})
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await receiver.waitFor(1)
  await stop()
  expect(await lettersOf(id)).toMatchObject([{ state: 'waiting', attempts: 0, uncertain: 1 }])
})

test('nobody is told while organisers have stopped all letters', async () => {
  const { receiver } = await automation()
  const id = await store()
  await decide(id, 'accepted')
  await ask('stop', { stopped: true })
  await send()
  const other = await store('eve@example.org')
  await decide(other, 'declined')
  await ask('stop', { stopped: false })
  await send('declined')
  await receiver.waitFor(2)
  await ask('stop', { stopped: true })
  const third = await store('bob@example.org')
  await decide(third, 'accepted')
  await send()
  let looks = 0
  const another = startDispatcher({
    sql: wrapStatements(server.database.server, (run) => run().finally(() => (looks += 1))),
    outbox,
    receiver: { url: receiver.origin, secret },
    log: recordLog().log,
    interval: 10,
  })
  atTestEnd(() => another.stop())
  await expect.poll(() => looks).toBeGreaterThan(5)
  expect(receiver.received).toHaveLength(2)
})

test('two servers tell each decision once, and automations get only decisions', async () => {
  const { receiver, tell } = await automation()
  tell()
  const ids = []
  for (let index = 0; index < 20; index += 1) ids.push(await store(`a${index}@example.org`))
  for (const id of ids) await decide(id, 'accepted')
  await send()
  await receiver.waitFor(20)
  await expect.poll(async () => (await countLetters(sql())).decisionsDelivered).toBe(20)
  const told = receiver.received.map(({ body }) => new URLSearchParams(body).get('id'))
  expect(new Set(told)).toEqual(new Set(ids))
  expect(told).toHaveLength(20)

  await ask('set_template', { occasion: 'Travel', version: null, subject: 's', body: 'b' })
  await ask('write', { applications: ids.slice(0, 1), occasion: 'Travel' })
  await expect(send('Travel')).rejects.toMatchObject({ code: 'PT409' })
  await mailIsThere()
  await send('Travel')
  expect(await states(ids[0] ?? '')).toEqual(['automation: sent', 'mail: waiting'])
  await ask('remove_template', { occasion: 'Travel', version: 0 })
})
