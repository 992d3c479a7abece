import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { seedsOf } from '../../support/extent.ts'
import { findFaults } from '../../support/letters.ts'
import { claimLetter, claimReceipt } from '../../support/claims.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { randomFrom } from '../../support/random.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in.ts'
import type { Letter } from '../../../src/client/desk/letters.ts'
import { tidyNotices } from '../../../src/server/letters/notices.ts'
import { outboxOf } from '../../../src/server/deliveries/outbox.ts'
import { recordHeartbeat } from '../../../src/server/deliveries/record.ts'
import { giveBack, record, type RecordedResult } from '../../../src/server/letters/outcomes.ts'
import { retryUndelivered } from '../../../src/server/letters/overview.ts'
import type { DeliveryResult } from '../../../src/server/deliveries/webhook.ts'
import type { Sql } from '../../../src/server/database/sql.ts'
import { valuesOf } from '../../support/sql.ts'

/** The number of acts for each seed. The seed chooses the acts, but not their order, since they run concurrently. */
const acts = Number(process.env['LETTER_ACTS'] ?? 400)
/** How many acts run concurrently. */
const players = 8
const seeds = seedsOf({ quick: 1, long: 20 })
/** An id that does not exist. */
const missingId = '00000000-0000-0000-0000-000000000000'

let server: SignInServer
let owner: Sql
let clients: SupabaseClient[]

beforeAll(async () => {
  server = await startSignIn()
  owner = server.database.owner
  await logErrors()
  clients = await Promise.all([server.signedIn(), server.signedIn()]).then((signedIn) =>
    signedIn.map(({ client }) => client),
  )
})

beforeEach(async () => {
  await resetDatabase(owner)
  await owner`update private.letter_settings set receipts = true, hold = '0'`
  await owner`update private.organisers set notices = 'daily'`
  await owner`update private.postman set seen_at = now() + interval '1 day', automation_seen_at = now() + interval '1 day'`
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

const waitingCalls = (name: string) =>
  owner`select from pg_stat_activity where wait_event_type = 'Lock' and query like ${`%desk_${name}%`}`

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
    const refused = record(owner, claim, { outcome: 'refused', code: 550, reply: '550 no' })
    await expect
      .poll(
        () =>
          owner`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      .toHaveLength(1)
    return { recording: refused }
  })
  expect(await recording).toBe('withdrawn')
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

/** Makes connections log errors, which may quote an applicant's text, so the product leaves them out. Ends the present ones. */
async function logErrors() {
  for (const setting of [`log_min_messages = 'error'`, `log_error_verbosity = 'default'`])
    await owner.unsafe(`alter database postgres set ${setting}`)
  await owner`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()`.catch(
    () => {},
  )
}

/** Reads the deadlocks from PostgreSQL's log: which statements waited for each other. A client gets only their process ids. */
async function readDeadlocks(): Promise<string[]> {
  const [row] = await owner<{ directory: string }[]>`select current_setting('data_directory') as directory`
  const log = await readFile(join(row?.directory ?? '', '..', 'postgres.log'), 'utf8')
  // The lines of a report after the first begin with a tab, or name its detail, context or statement.
  return log.match(/^.*deadlock detected(\n(\t|.*(DETAIL|HINT|CONTEXT|STATEMENT):).*)*/gm) ?? []
}

const testOptions = { timeout: 60_000 + acts * 200 }

test.each(seeds)(`${acts} concurrent acts on letters never deadlock (seed %i)`, testOptions, async (seed) => {
  const random = randomFrom(seed)
  const pick = <One>(some: readonly One[]) => some[Math.floor(random() * some.length)]
  const randomSubset = <One>(some: readonly One[]) =>
    some.filter(() => random() < 0.5).toSorted(() => random() - 0.5)
  const statuses = ['new', 'shortlisted', 'accepted', 'waitlisted', 'declined']
  const text = { subject: 'By train', body: 'Take the train, {{first_name}}.' }
  const sent = { outcome: 'sent', code: 250 } as const
  const mailResults: RecordedResult[] = [
    sent,
    { outcome: 'refused', code: 550, reply: '550 no' },
    { outcome: 'retry', code: 450, reply: '450 later', isUncertain: false },
    { outcome: 'retry', code: null, reply: 'It broke off.', isUncertain: true },
  ]
  const automation = outboxOf('decision')
  const delivered: DeliveryResult = { delivered: true, status: 200, text: '' }
  const webhookResults: DeliveryResult[] = [
    delivered,
    { delivered: false, status: 410, text: 'Gone' },
    { delivered: false, status: 500, text: 'Later' },
    { delivered: false, status: null, isUncertain: true, text: 'It broke off.' },
  ]
  const discarded = new Set<string>()
  /** Expires the leases of claimed deliveries, and makes waiting deliveries due. */
  const expireLeases = () => owner`
    update private.deliveries set due_at = now() where id in (
      select id from private.deliveries where due_at is not null and kind <> 'application' for update skip locked
    )`
  for (let count = 0; count < 6; count += 1) await store()

  const act = async () => {
    const [client, name] = [pick(clients), pick(Object.keys(kinds))]
    const applications = (await owner<{ id: string }[]>`select id from public.retreat_applications`).map(
      ({ id }) => id,
    )
    const letters = await lettersOf(applications)
    const code = await kinds[name ?? '']?.({ client, applications, letters }).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error) return String(error.code)
      throw error
    })
    return { name, code: code ?? '' }
  }
  type Situation = { client: SupabaseClient | undefined; applications: string[]; letters: Letter[] }
  const call =
    (name: string, argsOf: (situation: Situation) => object) =>
    (situation: Situation): Promise<string> =>
      codeOf(name, argsOf(situation), situation.client)
  const drafts = ({ letters }: Situation) => letters.filter(({ state }) => state === 'draft')
  const ids = (letters: readonly Letter[]) => letters.map(({ id }) => id)
  /** The kinds of acts. Each returns the SQLSTATE of its refusal, or ''. */
  const kinds: Record<string, (situation: Situation) => Promise<string>> = {
    decide: async ({ client }) => {
      const rows = await owner<{ id: string; version: number }[]>`
        select id, coalesce(version, 0) as version
        from public.retreat_applications left join private.statuses on application_id = id`
      const decisions = randomSubset(rows).map((row) => ({ ...row, status: pick(statuses) }))
      return codeOf('decide', { act: crypto.randomUUID(), decisions }, client)
    },
    release: call('release', (situation) => ({
      act: crypto.randomUUID(),
      letters: randomSubset(drafts(situation)).map(({ id, seen }) => ({ id, seen })),
      again: true,
    })),
    stopAct: call('withdraw', ({ letters }) => ({ act: pick(letters)?.act ?? missingId })),
    stop: call('withdraw', ({ letters }) => ({ letters: ids(randomSubset(letters)) })),
    write: call('write', ({ applications }) => ({
      applications: randomSubset(applications),
      occasion: pick(['Travel', 'accepted', 'declined']),
      again: random() < 0.5,
    })),
    edit: call('edit', (situation) => {
      const letter = pick(drafts(situation))
      return { letter: letter?.id ?? missingId, seen: letter?.seen ?? '', subject: 's', body: 'b' }
    }),
    discard: call('discard', (situation) => {
      const letter = pick(drafts(situation))?.id ?? missingId
      discarded.add(letter)
      return { letters: [letter] }
    }),
    writeTo: call('write_to', ({ applications }) => ({
      act: crypto.randomUUID(),
      application: pick(applications) ?? missingId,
      subject: 's',
      body: 'b',
    })),
    remind: call('remind', () => ({})),
    answer: call('set_answer', ({ applications }) => ({
      act: crypto.randomUUID(),
      application: pick(applications) ?? missingId,
      answer: pick(['coming', 'not coming', null]) ?? null,
    })),
    byHand: call('sent_by_hand', (situation) => {
      const letter = pick(drafts(situation))
      return { letter: letter?.id ?? missingId, seen: letter?.seen ?? '' }
    }),
    retry: call('retry', ({ letters }) => ({ letters: ids(randomSubset(letters)) })),
    settle: call('settle', ({ letters }) => ({ letters: ids(randomSubset(letters)).slice(0, 2) })),
    readdress: call('readdress', ({ letters }) => ({
      act: crypto.randomUUID(),
      letter: pick(letters.filter(({ state }) => state === 'refused'))?.id ?? missingId,
      address: 'b@example.org',
    })),
    setTemplate: call('set_template', () => ({ occasion: 'Travel', version: null, ...text })),
    removeTemplate: call('remove_template', () => ({ occasion: 'Travel', version: 0 })),
    test: call('send_test', () => ({ ...text, act: crypto.randomUUID() })),
    erase: async ({ client, applications }) => {
      const rows = await owner<{ id: string; email: string }[]>`
        select id, email from public.retreat_applications where id = ${pick(applications) ?? missingId}`
      const code = await codeOf(
        'erase',
        { applications: rows.map(({ id }) => id), email: rows[0]?.email ?? '' },
        client,
      )
      await store()
      return code
    },
    sendEmail: async () => {
      const claim = await (random() < 0.3 ? claimReceipt : claimLetter)(owner)
      if (claim)
        await (random() < 0.1 ? giveBack(owner, claim) : record(owner, claim, pick(mailResults) ?? sent))
      return ''
    },
    loseClaim: async () => {
      await (random() < 0.5 ? claimLetter(owner) : automation.claimDue(owner, 1))
      if (random() < 0.5) await expireLeases()
      return ''
    },
    // Changes whether a mail sender and an automation run.
    changeServers: async () => {
      const [sendsMail, sendsWebhooks] = [random() < 0.7, random() < 0.7]
      await owner`
          update private.postman set seen_at = case when ${sendsMail} then now() + interval '1 day' else '-infinity' end,
            automation_seen_at = case when ${sendsWebhooks} then now() + interval '1 day' else '-infinity' end`
      return ''
    },
    sendWebhooks: async () => {
      for (const claim of await automation.claimDue(owner, 3)) {
        await automation.record(owner, claim, pick(webhookResults) ?? delivered)
      }
      return ''
    },
    upkeep: async () => {
      await owner`update private.organisers set day_due_at = now()`
      await Promise.all([recordHeartbeat(owner, 'mail sender'), tidyNotices(owner)])
      await owner`update private.postman set seen_at = now() + interval '1 day'`
      return ''
    },
    retryAll: async () => {
      await retryUndelivered(owner)
      return ''
    },
  }
  const done: { name: string | undefined; code: string }[] = []
  const play = async () => {
    while (done.length < acts) done.push(await act())
  }
  await Promise.all(Array.from({ length: players }, play))

  const unexpectedRefusals = done.filter(
    ({ code }) => !['', 'PT409', 'PT404', '22023', 'PT429'].includes(code),
  )
  expect({ unexpectedRefusals, deadlocks: await readDeadlocks() }).toEqual({
    unexpectedRefusals: [],
    deadlocks: [],
  })
  // The test would prove little if most kinds of acts were always refused.
  expect(new Set(done.filter(({ code }) => code === '').map(({ name }) => name)).size).toBeGreaterThan(10)
  expect(await findFaults(owner, discarded)).toEqual([])
  // The same holds once all leases have expired and every waiting delivery has arrived.
  for (let round = 0; round < 3; round += 1) {
    await expireLeases()
    await recordHeartbeat(owner, 'mail sender')
    for (;;) {
      await owner`update private.postman set next_at = '-infinity', paused_until = '-infinity'`
      const [claim, claims] = [await claimLetter(owner), await automation.claimDue(owner, 10)]
      if (claim) await record(owner, claim, sent)
      for (const each of claims) await automation.record(owner, each, delivered)
      if (claim === undefined && claims.length === 0) break
    }
  }
  expect(
    await owner`select from private.deliveries where kind <> 'application' and state = 'sending'`,
  ).toEqual([])
  expect(await findFaults(owner, discarded)).toEqual([])
})
