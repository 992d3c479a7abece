import type { ServerResponse } from 'node:http'
import type { SupabaseClient } from '@supabase/supabase-js'
import { Webhook } from 'standardwebhooks'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { atTestEnd } from '../../support/cleanup.ts'
import { claimLetter } from '../../support/claimed-emails.ts'
import { anApplication } from '../../support/form.ts'
import { recordLog } from '../../support/mail-sender.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import type { Letter, LettersOverview } from '../../../src/client/desk/letters.ts'
import type { Places } from '../../../src/client/desk/retreat.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import {
  countLetters,
  listUndeliveredLetters,
  retryUndelivered,
} from '../../../src/server/letters/overview.ts'
import { startDispatcher } from '../../../src/server/deliveries/webhook-worker.ts'
import { claimDue } from '../../../src/server/deliveries/claims.ts'
import { recordTry } from '../../../src/server/deliveries/record-result.ts'
import { wrapStatements, valuesOf } from '../../support/sql.ts'

const claimDecisions = () => claimDue(sql(), 'decision', 10)
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let server: SignInServer
let client: SupabaseClient
/** The HTTP status with which the automation of one test responds. */
let responseStatus = 200

beforeAll(async () => {
  server = await startSignIn()
  ;({ client } = await server.signedIn())
})

beforeEach(async () => {
  await resetDatabase(sql())
  await sql()`update private.letter_settings set hold = '0'`
})

const sql = () => server.database.owner

/** Starts an automation, and a server that sends decisions to the automation. Resolves when the desk shows the automation. */
async function startAutomation(...args: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...args)
  const { log, lines } = recordLog()
  const startServer = () => {
    const dispatcher = startDispatcher({
      sql: server.database.server,
      kind: 'decision',
      receiver: { url: `${receiver.origin}/hook`, secret },
      log,
      interval: 50,
    })
    return atTestEnd(() => dispatcher.stop())
  }
  const stop = startServer()
  await expect
    .poll(async () => (await callDesk<LettersOverview>('letters')).postman.is_automation_there)
    .toBe(true)
  return { receiver, lines, startServer, stop }
}

async function callDesk<Result>(name: string, args: object = {}): Promise<Result> {
  const { data, error } = await client.rpc(`desk_${name}`, args)
  if (error) throw error
  return data as Result
}

async function store(email = 'ada@example.org') {
  const answers = anApplication({ email })
  const [row] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...answers })} returning id`
  return row.id
}

/** The version of each application's status. */
const versions = new Map<string, number>()
async function decide(id: string, status: string) {
  const decisions = [{ id, status, version: versions.get(id) ?? 0 }]
  const [outcome] = await callDesk<{ version: number }[]>('decide', { act: crypto.randomUUID(), decisions })
  versions.set(id, outcome?.version ?? 0)
}

/** Releases the drafts of a template. Returns the id of the act. */
async function send(occasion = 'accepted', act = crypto.randomUUID()) {
  const { letters } = await callDesk<{ letters: Letter[] }>('drafts', { occasion })
  await callDesk('release', { act, letters: letters.map(({ id, seen }) => ({ id, seen })) })
  return act
}

const simulateMailSender = () => sql()`update private.postman set seen_at = now()`
const lettersOf = (id: string) => callDesk<Letter[]>('letters_of', { applications: [id] })
const states = async (id: string) =>
  (await lettersOf(id)).map(({ way, state }) => `${way}: ${state}`).toSorted()

test('an automation is told of a decision when an organiser sends it, not when an organiser makes it', async () => {
  const { receiver } = await startAutomation()
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
  // The signature is right: the only error is that the body is not JSON.
  expect(verify).toThrow(SyntaxError)
  // The decision replaces the email.
  await expect.poll(() => states(id)).toEqual(['automation: sent'])
  expect(receiver.received).toHaveLength(1)
  // A decision that was sent does not clear the mail server's problem.
  expect(await sql()`select problem from private.postman`).toEqual([{ problem: 'no mail' }])
})

test('an automation gets the RSVP link and the deadline, and later each RSVP, in their order', async () => {
  await sql()`update private.places set site = 'https://unplugged.example', days = 7`
  const { receiver } = await startAutomation((_request, response) => response.writeHead(responseStatus).end())
  const id = await store()
  await decide(id, 'accepted')
  await send()
  const [decision] = await receiver.waitFor(1)
  const [invitation] = await sql()<[{ token: string; day: string }]>`
    select token, deadline::text as day from private.invitations where application_id = ${id}`
  expect(Object.fromEntries(new URLSearchParams(decision?.body))).toMatchObject({
    answerLink: `https://unplugged.example/answer/#${invitation.token}`,
    replyBy: invitation.day,
  })
  await expect.poll(async () => (await callDesk<Places>('places')).no_answer).toBe(1)

  const rsvpDispatcher = startDispatcher({
    sql: server.database.server,
    kind: 'rsvp',
    receiver: { url: `${receiver.origin}/hook`, secret },
    log: recordLog().log,
    interval: 50,
  })
  atTestEnd(() => rsvpDispatcher.stop())
  // The delivery of the first RSVP fails at first, and those of the later RSVPs wait for it.
  responseStatus = 500
  await sql()`select public.answer_place(${invitation.token}, 'coming', gen_random_uuid())`
  await receiver.waitFor(2)
  await sql()`select public.answer_place(${invitation.token}, 'not coming', gen_random_uuid())`
  await callDesk('set_answer', { act: crypto.randomUUID(), application: id, answer: null })
  await expect
    .poll(() =>
      sql().begin(async (transaction) => {
        const replies: string[] = []
        for await (const batch of listUndeliveredLetters(transaction, 10))
          replies.push(...batch.map(({ reply }) => reply))
        return replies
      }),
    )
    .toEqual(['HTTP 500'])
  expect(await countLetters(sql())).toMatchObject({ webhooksWaiting: 3, webhooksFailed: 0 })
  responseStatus = 200
  await sql()`update private.deliveries set due_at = now() where kind = 'rsvp' and state = 'waiting' and attempts > 0`
  const rsvps = (await receiver.waitFor(5)).slice(1).map(({ body, headers }) => ({
    ...Object.fromEntries(new URLSearchParams(body)),
    webhookId: headers['webhook-id'],
  }))
  expect(rsvps[0]).toEqual(rsvps[1])
  const at = expect.stringMatching(/^\d{4}-.*Z$/) as string
  const webhookId = expect.any(String) as string
  const expected = (answer: string) => ({
    event: 'answer',
    id,
    email: 'ada@example.org',
    answer,
    answeredAt: at,
    webhookId,
  })
  expect(rsvps.slice(1)).toEqual([expected('coming'), expected('not coming'), expected('none')])
  await expect
    .poll(
      () => sql()`select from private.deliveries where kind = 'rsvp' and state not in ('done', 'cancelled')`,
    )
    .toHaveLength(0)
})

test('an RSVP whose delivery was given up is never delivered after a later RSVP, even if somebody retries it', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const enterRsvp = (rsvp: string) =>
    callDesk('set_answer', { act: crypto.randomUUID(), application: id, answer: rsvp })
  /** Claims the due RSVPs; `end` records the status with which the automation responded. */
  const claimRsvps = async () => {
    const claims = await claimDue(sql(), 'rsvp', 10)
    const end = (status: number) =>
      Promise.all(
        claims.map((claim) => recordTry(sql(), claim, { delivered: status === 200, status, text: '' })),
      )
    return { values: claims.map(({ body }) => body.get('answer')), end }
  }
  await enterRsvp('not coming')
  expect(await (await claimRsvps()).end(410)).toEqual(['failed'])
  await enterRsvp('coming')
  const coming = await claimRsvps()
  expect(coming.values).toEqual(['coming'])
  // The earlier RSVP is not retried while the later one is pending.
  expect(await retryUndelivered(sql())).toBe(0)
  expect((await claimRsvps()).values).toEqual([])
  expect(await coming.end(410)).toEqual(['failed'])
  // Both were given up, so both are retried, in their order.
  expect(await retryUndelivered(sql())).toBe(2)
  const first = await claimRsvps()
  expect(first.values).toEqual(['not coming'])
  expect(await first.end(410)).toEqual(['failed'])
  const second = await claimRsvps()
  expect(second.values).toEqual(['coming'])
  expect(await second.end(200)).toEqual(['done'])
  expect(await retryUndelivered(sql())).toBe(0)
  expect(
    await sql()`select from private.deliveries where kind = 'rsvp' and state not in ('done', 'cancelled')`,
  ).toHaveLength(0)
})

test('an RSVP is queued only if a server for an automation was seen within a day', async () => {
  const queuedAfter = async (hours: number) => {
    await sql()`update private.postman set automation_seen_at = now() - ${hours} * interval '1 hour'`
    const id = await store()
    await decide(id, 'accepted')
    await callDesk('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
    return (await sql()`select from private.deliveries where kind = 'rsvp' and application_id = ${id}`).length
  }
  expect([await queuedAfter(25), await queuedAfter(23)]).toEqual([0, 1])
})

/** Hands over the due letter: the mail server accepts it, or replies `451`. */
async function handOver(result: 'done' | 'waiting' = 'done') {
  const mail = await claimLetter(sql())
  if (mail === undefined) throw new Error('no letter is due')
  const deferred = { result: 'waiting', code: 451, reply: 'later', isUncertain: false } as const
  await record(sql(), mail, result === 'done' ? { result, code: 250 } : deferred)
}

test('with a mail server, an automation is told of a decision only after its email was sent', async () => {
  const { receiver } = await startAutomation()
  await simulateMailSender()
  const id = await store()
  await decide(id, 'accepted')
  const act = await send()
  await handOver('waiting')
  expect(await states(id)).toEqual(['mail: waiting'])
  expect(await callDesk('withdraw', { act })).toEqual({ withdrawn: 1, left: 0 })
  await send()
  await handOver()
  const [request] = await receiver.waitFor(1)
  expect(new URLSearchParams(request?.body).get('status')).toBe('accepted')
  await expect.poll(() => states(id)).toEqual(['automation: sent', 'mail: sent', 'mail: withdrawn'])
})

test('an automation is told once of a stopped letter that may have arrived, and once of the next decision', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const act = await send()
  const mail = await claimLetter(sql())
  if (mail === undefined) throw new Error('no letter is due')
  await callDesk('withdraw', { act })
  await decide(id, 'declined')
  await record(sql(), mail, { result: 'waiting', code: null, reply: 'It broke off.', isUncertain: true })
  await send('declined')
  await handOver()
  const deliverNext = async () => {
    const [claim] = await claimDecisions()
    if (claim) await recordTry(sql(), claim, { delivered: true, status: 200, text: '' })
    return claim?.body.get('status')
  }
  expect([await deliverNext(), await deliverNext(), await deliverNext()]).toEqual([
    'accepted',
    'declined',
    undefined,
  ])
})

test('sending a rejection to an automation sets no deadline for a person who was accepted meanwhile', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'declined')
  await send('declined')
  await handOver()
  await decide(id, 'accepted')
  const [claim] = await claimDecisions()
  expect(claim?.body.get('status')).toBe('declined')
  expect(claim?.body.has('replyBy')).toBe(false)
  expect(await sql()`select deadline from private.invitations where application_id = ${id}`).toEqual([
    { deadline: null },
  ])
})

test('an automation is not told of letters that were sent by hand, or while no server for the automation was running', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await lettersOf(id)
  await callDesk('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  await sql()`update private.postman set automation_seen_at = now() - interval '25 hours'`
  await decide(id, 'declined')
  await send('declined')
  await handOver()
  expect(await states(id)).toEqual(['mail: sent', 'mail: sent'])
})

test('a decision that is sent in addition to an email can be stopped, and no letter is drafted for it', async () => {
  await sql()`update private.postman set seen_at = now(), automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const release = async () => {
    const { letters } = await callDesk<{ letters: Letter[] }>('drafts', { occasion: 'accepted' })
    const selected = letters.map(({ id: letter, seen }) => ({ id: letter, seen }))
    await callDesk('release', { act: crypto.randomUUID(), letters: selected, again: true })
    const mail = await claimLetter(sql())
    if (mail === undefined) throw new Error('no letter is due')
    await record(sql(), mail, { result: 'done', code: 250 })
  }
  await release()
  await callDesk('write', { applications: [id], occasion: 'accepted', again: true })
  await release()
  const additional = (await lettersOf(id)).filter(({ way }) => way === 'automation')
  expect(additional).toHaveLength(2)
  await callDesk('withdraw', { letters: additional.map((each) => each.id) })
  expect(await states(id)).toEqual([
    'automation: withdrawn',
    'automation: withdrawn',
    'mail: sent',
    'mail: sent',
  ])
})

test('a decision that is stopped while it is being sent in addition to an email changes no letter', async () => {
  const responses: ServerResponse[] = []
  const { receiver } = await startAutomation((_request, response) => void responses.push(response))
  await simulateMailSender()
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await handOver()
  await receiver.waitFor(1)
  const [additional] = (await lettersOf(id)).filter(({ way }) => way === 'automation')
  await callDesk('withdraw', { letters: [additional?.id] })
  for (const response of responses) response.writeHead(500).end()
  await expect.poll(() => states(id)).toEqual(['automation: withdrawn', 'mail: sent'])
  expect(await sql()`select state from private.letters where application_id = ${id}`).toEqual([
    { state: 'released' },
  ])
})

test('an acceptance that replaces the email is not sent to an automation after the deadline', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const dayIn = (days: number) =>
    sql()`select (private.today() + ${days}::integer)::text as day`.then(([row]) => String(row?.['day']))
  const setDeadline = async (day: string) =>
    callDesk('keep_until', { act: crypto.randomUUID(), application: id, until: day })
  await setDeadline(await dayIn(1))
  await send()
  await sql()`update private.invitations set deadline = private.today() - 1`
  expect(await claimDecisions()).toEqual([])
  const [letter] = await lettersOf(id)
  expect(letter).toMatchObject({
    way: 'automation',
    state: 'given up',
    answer: 'The last day to answer has passed.',
  })
  const later = await dayIn(2)
  await setDeadline(later)
  expect(await callDesk('retry', { letters: [letter?.id] })).toEqual({ retried: 1 })
  const [claim] = await claimDecisions()
  expect(claim).toMatchObject({ id: letter?.id })
  expect(claim?.body.get('replyBy')).toBe(later)
})

test('an organiser who decides on several people and a server that claims their decisions do not deadlock', async () => {
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

test('an organiser who erases somebody and a server that records their RSVPs do not deadlock', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const enterRsvp = (rsvp: string) =>
    callDesk('set_answer', { act: crypto.randomUUID(), application: id, answer: rsvp })
  await enterRsvp('coming')
  const [failed] = await claimDue(sql(), 'rsvp', 10)
  if (failed) await recordTry(sql(), failed, { delivered: false, status: 410, text: '' })
  await enterRsvp('not coming')
  const [pending] = await claimDue(sql(), 'rsvp', 10)
  const waiting = () => sql()`select pid from pg_stat_activity where wait_event_type = 'Lock'`
  const { erased, recorded } = await sql().begin(async (transaction) => {
    await transaction`select from private.deliveries where id = ${failed?.id ?? ''} for update`
    const erasing = callDesk('erase', { applications: [id], email: 'ada@example.org' })
    await expect.poll(waiting).toHaveLength(1)
    const recording = pending && recordTry(sql(), pending, { delivered: true, status: 200, text: '' })
    await expect.poll(waiting).toHaveLength(2)
    return { erased: erasing, recorded: recording }
  })
  expect(await erased).toEqual({ erased: 1 })
  expect(await recorded).toBe('lost')
})

// break: record-skips-application-lock
test('an organiser who erases somebody and a server that records their letter for an automation do not deadlock', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await simulateMailSender()
  await decide(id, 'accepted')
  await send()
  const letter = await claimLetter(sql())
  if (letter === undefined) throw new Error('no letter is due')
  const { recorded } = await sql().begin(async (erasing) => {
    await erasing`select from public.retreat_applications where id = ${id} for update`
    const recording = record(sql(), letter, { result: 'done', code: 250 })
    await expect
      .poll(() => sql()`select pid from pg_stat_activity where wait_event_type = 'Lock'`)
      .toHaveLength(1)
    // The waiting server has not locked the letter's delivery, which is erased with the application.
    await erasing`select from private.deliveries where application_id = ${id} for update nowait`
    await erasing`delete from public.retreat_applications where id = ${id}`
    return { recorded: recording }
  })
  expect(await recorded).toBe('lost')
})

test('if a decision changes before the automation gets it, its delivery is withdrawn, and a letter about the new decision is drafted', async () => {
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

test('if a decision changes while it is being sent, its delivery is not retried, and a letter about the new decision is drafted', async () => {
  const pendingResponses: (() => void)[] = []
  const { receiver } = await startAutomation((_request, response) => {
    pendingResponses.push(() => response.writeHead(500).end())
  })
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await expect.poll(() => pendingResponses).toHaveLength(1)
  await decide(id, 'declined')
  pendingResponses[0]?.()
  await expect.poll(() => states(id)).toEqual(['automation: withdrawn', 'mail: draft'])
  expect(receiver.received).toHaveLength(1)
})

test('a decision that gets 500 is retried with the same id, and a decision that gets 410 is not retried', async () => {
  let status = 500
  // The response quotes the applicant's address, which must not be logged.
  const { receiver, lines } = await startAutomation((request, response) =>
    response.writeHead(status, { 'retry-after': '3600' }).end(request.body.replace('%40', '@')),
  )
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await receiver.waitFor(1)
  await expect.poll(() => states(id)).toEqual(['automation: waiting'])
  const [failed] = await lettersOf(id)
  expect(failed).toMatchObject({ attempts: 1, answer: 'HTTP 500', uncertain: 0 })
  // The automation asked to wait for an hour.
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
  expect(await callDesk('retry', { letters: [refused?.id] })).toEqual({ retried: 1 })
  await expect.poll(() => states(id)).toEqual(['automation: sent'])
  expect(JSON.stringify(lines)).not.toContain('ada@example.org')
})

test('the deadline of an acceptance counts from the try that reaches the automation', async () => {
  await sql()`update private.places set days = 7`
  const { receiver } = await startAutomation()
  await receiver.close()
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await expect
    .poll(() => lettersOf(id))
    .toMatchObject([{ state: 'waiting', uncertain: 0, answer: 'No connection was made.' }])
  const invitation = () => sql()`
    select told_at, deadline - current_date as days from private.invitations where application_id = ${id}`
  expect(await invitation()).toEqual([{ told_at: null, days: 7 }])
  // The automation is back a day later.
  await sql()`update private.invitations set deadline = deadline - 1`
  await startReceiver(undefined, Number(new URL(receiver.origin).port))
  await sql()`update private.deliveries set due_at = now() where kind = 'decision'`
  await expect.poll(() => states(id)).toEqual(['automation: sent'])
  expect(await invitation()).toEqual([{ told_at: expect.any(Date) as Date, days: 7 }])
})

test('a decision may have arrived if its try is aborted because the server stops', async () => {
  const { receiver, stop } = await startAutomation(() => {})
  const id = await store()
  await decide(id, 'accepted')
  await send()
  await receiver.waitFor(1)
  await stop()
  expect(await lettersOf(id)).toMatchObject([{ state: 'waiting', attempts: 0, uncertain: 1 }])
})

test('no decision is sent to an automation while organisers have stopped all letters', async () => {
  const { receiver } = await startAutomation()
  const id = await store()
  await decide(id, 'accepted')
  await callDesk('stop', { stopped: true })
  await send()
  const other = await store('eve@example.org')
  await decide(other, 'declined')
  await callDesk('stop', { stopped: false })
  await send('declined')
  await receiver.waitFor(2)
  await callDesk('stop', { stopped: true })
  const third = await store('bob@example.org')
  await decide(third, 'accepted')
  await send()
  let statements = 0
  const another = startDispatcher({
    sql: wrapStatements(server.database.server, (run) => run().finally(() => (statements += 1))),
    kind: 'decision',
    receiver: { url: receiver.origin, secret },
    log: recordLog().log,
    interval: 10,
  })
  atTestEnd(() => another.stop())
  await expect.poll(() => statements).toBeGreaterThan(5)
  expect(receiver.received).toHaveLength(2)
})

test('two servers send each decision to an automation once, and send no other letters to the automation', async () => {
  const { receiver, startServer } = await startAutomation()
  startServer()
  const ids = []
  for (let index = 0; index < 20; index += 1) ids.push(await store(`a${index}@example.org`))
  for (const id of ids) await decide(id, 'accepted')
  await send()
  await receiver.waitFor(20)
  await expect.poll(async () => (await countLetters(sql())).decisionsDelivered).toBe(20)
  const receivedIds = receiver.received.map(({ body }) => new URLSearchParams(body).get('id'))
  expect(new Set(receivedIds)).toEqual(new Set(ids))
  expect(receivedIds).toHaveLength(20)

  await callDesk('set_template', { occasion: 'Travel', version: null, subject: 's', body: 'b' })
  await callDesk('write', { applications: ids.slice(0, 1), occasion: 'Travel' })
  await expect(send('Travel')).rejects.toMatchObject({ code: 'PT409' })
  await simulateMailSender()
  await send('Travel')
  expect(await states(ids[0] ?? '')).toEqual(['automation: sent', 'mail: waiting'])
  await callDesk('remove_template', { occasion: 'Travel', version: 0 })
})
