import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { claimLetter } from '../../support/claimed-emails.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import type { Letter } from '../../../src/client/desk/letters.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { valuesOf } from '../../support/sql.ts'

let server: SignInServer
let owner: Sql
let clients: SupabaseClient[]

beforeAll(async () => {
  server = await startSignIn()
  owner = server.database.owner
  clients = await Promise.all([server.signedIn(), server.signedIn()]).then((signedIn) =>
    signedIn.map(({ client }) => client),
  )
})

beforeEach(async () => {
  await resetDatabase(owner)
  await owner`update private.letter_settings set receipts = true, hold = '0'`
  await owner`update private.organisers set notices = 'daily'`
  await owner`update private.postman set seen_at = now(), automation_seen_at = now()`
})

let stored = 0
async function store() {
  stored += 1
  const [row] = await owner<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ email: `a${stored}@example.org` }) })}
    returning id`
  return row?.id ?? ''
}

/** Calls a function of the desk. Returns the SQLSTATE of its refusal, or ''. */
async function codeOf(name: string, args: object, client = clients[0]): Promise<string> {
  const { error } = (await client?.rpc(`desk_${name}`, args)) ?? { error: null }
  return error?.code ?? ''
}

async function lettersOf(applications: string[]): Promise<Letter[]> {
  const { data } = (await clients[0]?.rpc('desk_letters_of', { applications }).throwOnError()) ?? {}
  return data as Letter[]
}

async function decide(id: string, status: string) {
  const decisions = [{ id, status, version: 0 }]
  expect(await codeOf('decide', { act: crypto.randomUUID(), decisions })).toBe('')
}

/** Puts the drafts to an application on their way. */
async function sendDrafts(id: string) {
  const drafts = (await lettersOf([id])).filter(({ state }) => state === 'draft')
  const letters = drafts.map(({ id: letter, seen }) => ({ id: letter, seen }))
  expect(await codeOf('release', { act: crypto.randomUUID(), letters })).toBe('')
}

const waitingCalls = (name: string) =>
  owner`select from pg_stat_activity where wait_event_type = 'Lock' and query like ${`%desk_${name}%`}`

// break: letter-acts-lock-unordered
test('an act on several letters locks their applications in the order of their ids, so that two acts cannot deadlock', async () => {
  const ids = await Promise.all([store(), store(), store()])
  const [first = '', ...later] = ids.toSorted()
  const { call } = await owner.begin(async (locking) => {
    await locking`select from public.retreat_applications where id = ${first} for no key update`
    const args = { applications: [...later.toReversed(), first], occasion: 'accepted' }
    const writing = codeOf('write', args)
    await expect.poll(() => waitingCalls('write')).toHaveLength(1)
    // The call waits for the first, and has not locked the others.
    await locking`select from public.retreat_applications where id = any (${later}::uuid[]) for no key update nowait`
    return { call: writing }
  })
  expect(await call).toBe('')
})

// break: letter-acts-skip-application-lock
test('each act on a letter locks the application before the letter, as erasing does', async () => {
  const calls: [string, (draft: Letter, receipt: Letter) => object][] = [
    ['release', ({ id, seen }) => ({ act: crypto.randomUUID(), letters: [{ id, seen }] })],
    ['edit', ({ id, seen }) => ({ letter: id, seen, subject: 's', body: 'b' })],
    ['sent_by_hand', ({ id, seen }) => ({ letter: id, seen })],
    ['discard', ({ id }) => ({ letters: [id] })],
    ['withdraw', ({ id }) => ({ letters: [id] })],
    ['withdraw', (_draft, { id }) => ({ letters: [id] })],
    ['retry', (_draft, { id }) => ({ letters: [id] })],
    ['readdress', (_draft, { id }) => ({ act: crypto.randomUUID(), letter: id, address: 'ada@example.org' })],
    ['settle', (_draft, { id }) => ({ letters: [id] })],
    ['came_back', (_draft, { id }) => ({ act: crypto.randomUUID(), letter: id })],
    ['write', ({ application }) => ({ applications: [application], occasion: 'accepted' })],
    [
      'decide',
      ({ application: id }) => ({
        act: crypto.randomUUID(),
        decisions: [{ id, status: 'declined', version: 1 }],
      }),
    ],
  ]
  for (const [name, argsOf] of calls) {
    const id = await store()
    await decide(id, 'accepted')
    const letters = await lettersOf([id])
    const draft = letters.find(({ state }) => state === 'draft')
    const receipt = letters.find(({ occasion }) => occasion === 'received')
    if (draft === undefined || receipt === undefined)
      throw new Error('There is no draft, or no receipt waits.')
    const called = await owner.begin(async (locking) => {
      // Each act on the letters of an application takes this lock. It is weaker than the lock of erasing.
      await locking`select from public.retreat_applications where id = ${id} for no key update`
      const call = codeOf(name, argsOf(draft, receipt))
      await expect.poll(() => waitingCalls(name), { message: name }).toHaveLength(1)
      // The waiting call has not locked any of these rows.
      await locking`select from private.statuses where application_id = ${id} for update nowait`
      await locking`select from private.letters where application_id = ${id} for update nowait`
      await locking`select from private.deliveries where application_id = ${id} for update nowait`
      // In an object, because the transaction would wait for a promise that it returns.
      return { call }
    })
    expect([`${name} `, `${name} PT409`]).toContain(`${name} ${await called.call}`)
  }
})

test('while a letter to a person is being written, a refused letter to them waits before it becomes a draft again', async () => {
  const id = await store()
  const text = { application: id, subject: 's', body: 'b' }
  const act = crypto.randomUUID()
  expect(await codeOf('write_to', { act, ...text })).toBe('')
  const draft = (await lettersOf([id])).find(({ state }) => state === 'draft')
  const letters = [{ id: draft?.id, seen: draft?.seen }]
  expect(await codeOf('release', { act: crypto.randomUUID(), letters })).toBe('')
  await owner`update private.postman set next_at = '-infinity', paused_until = '-infinity'`
  const claim = await claimLetter(owner)
  if (claim === undefined) throw new Error('no letter is due')
  await decide(id, 'declined')
  const { recording } = await owner.begin(async (writing) => {
    const { data } = (await clients[0]?.auth.getClaims()) ?? {}
    await writing`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
    await writing`select desk_write_to(gen_random_uuid(), ${id}, 'another', 'b')`
    const refused = record(owner, claim, { result: 'failed', code: 550, reply: '550 no' })
    await expect
      .poll(
        () =>
          owner`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      .toHaveLength(1)
    return { recording: refused }
  })
  expect(await recording).toBe('cancelled')
  expect(
    (await lettersOf([id])).filter(({ occasion, state }) => occasion === '' && state === 'draft'),
  ).toMatchObject([{ subject: 'another' }, { subject: 's' }])
})

test('a server that claims a letter does not wait for an organiser who acts on this letter', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const draft = (await lettersOf([id])).find(({ state }) => state === 'draft')
  await owner.begin(async (acting) => {
    await acting`select private.lock_letters(array[${draft?.id ?? ''}::uuid])`
    // The lock that the claim takes if it also sends the decision to an automation. The organiser waits for the claim then.
    expect(
      await owner`select from private.letters where id = ${draft?.id ?? ''} for key share nowait`,
    ).toHaveLength(1)
  })
})

// break: result-keeps-row-while-waiting
test('a result that meets a letter being stopped holds no row of it while it waits for its application, so that nobody deadlocks', async () => {
  const id = await store()
  await decide(id, 'accepted')
  await sendDrafts(id)
  const claim = await claimLetter(owner)
  if (claim === undefined) throw new Error('No letter is on its way.')
  const { id: delivery } = claim
  const waiting = () => owner`
    select pg_blocking_pids(pid) as by from pg_stat_activity where wait_event_type = 'Lock' and query like '%record_delivery%'`
  const { recording } = await owner.begin(async (acting) => {
    const [{ pid }] = await acting<[{ pid: number }]>`select pg_backend_pid() as pid`
    await acting`select from public.retreat_applications where id = ${id} for no key update`
    const { call } = await owner.begin(async (stopping) => {
      await stopping`update private.deliveries set recalled_at = now() where id = ${delivery}`
      const recorded = record(owner, claim, { result: 'done', code: 250 })
      await expect.poll(waiting).toHaveLength(1)
      return { call: recorded }
    })
    await expect.poll(waiting).toEqual([{ by: [pid] }])
    await acting`select from private.deliveries where id = ${delivery} for update nowait`
    return { recording: call }
  })
  await recording
  expect(await owner`select state from private.deliveries where id = ${delivery}`).toEqual([
    { state: 'done' },
  ])
})

test('removing a template waits while drafts are made from it, and removes these drafts too', async () => {
  const template = { occasion: 'Travel', version: null, subject: 'By train', body: 'Take the train.' }
  expect(await codeOf('set_template', template)).toBe('')
  const id = await store()
  const { removing } = await owner.begin(async (writing) => {
    const { data } = (await clients[0]?.auth.getClaims()) ?? {}
    await writing`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
    await writing`select desk_write(array[${id}::uuid], 'Travel')`
    const call = codeOf('remove_template', { occasion: 'Travel', version: 0 })
    await expect.poll(() => waitingCalls('remove_template')).toHaveLength(1)
    return { removing: call }
  })
  expect(await removing).toBe('')
  expect(await owner`select from private.letters where template = 'Travel' and state = 'draft'`).toEqual([])
})

test('storing an application does not wait while the daily emails are written', async () => {
  await owner.begin(async (writing) => {
    await writing`update private.organisers set day_due_at = now()`
    await writing`select private.write_day_notices()`
    // The lock that the notice of a new application takes.
    expect(await owner`select from private.organisers for key share nowait`).toHaveLength(clients.length)
  })
})

test('a test letter is refused with PT404 if its application is erased meanwhile', async () => {
  const application = await store()
  const args = { subject: 's', body: 'Hello {{first_name}}', application, act: crypto.randomUUID() }
  const { testing } = await owner.begin(async (erasing) => {
    await erasing`delete from public.retreat_applications where id = ${application}`
    const call = codeOf('send_test', args)
    await expect.poll(() => waitingCalls('send_test')).toHaveLength(1)
    return { testing: call }
  })
  expect(await testing).toBe('PT404')
})
