import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { claimLetter, claimReceipt } from '../../support/claimed-emails.ts'
import { watchDeadlocks } from '../../support/deadlocks.ts'
import { seedsOf } from '../../support/quick-or-long.ts'
import { anApplication } from '../../support/form.ts'
import { findFaults } from '../../support/letters.ts'
import { randomFrom } from '../../support/random.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Letter } from '../../../src/client/desk/letters.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { claimDue } from '../../../src/server/deliveries/claims.ts'
import { recordHeartbeat, recordTry } from '../../../src/server/deliveries/record-result.ts'
import type { DeliveryResult } from '../../../src/server/deliveries/webhook.ts'
import { tidyNotices } from '../../../src/server/letters/notices.ts'
import { giveBack, record, type RecordedResult } from '../../../src/server/letters/outcomes.ts'
import { retryUndelivered } from '../../../src/server/letters/overview.ts'

/** The number of acts for each seed. The seed chooses the acts, but not their order, since they run concurrently. */
const acts = Number(process.env['LETTER_ACTS'] ?? 400)
/** How many acts run concurrently. */
const players = 8
const seeds = seedsOf({ quick: 1, long: 20 })
/** An id that does not exist. */
const missingId = '00000000-0000-0000-0000-000000000000'

let owner: Sql
let clients: SupabaseClient[]
let deadlocks: () => Promise<string[]>

beforeAll(async () => {
  const server = await startSignIn()
  owner = server.database.owner
  deadlocks = await watchDeadlocks(owner)
  const signedIn = await Promise.all([server.signedIn(), server.signedIn()])
  clients = signedIn.map(({ client }) => client)
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
  await owner`insert into public.retreat_applications ${valuesOf({ ...anApplication({ email: `a${stored}@example.org` }) })}`
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

const testOptions = { timeout: 300_000 + acts * 500 }

test.each(seeds)(`${acts} concurrent acts on letters never deadlock (seed %i)`, testOptions, async (seed) => {
  const random = randomFrom(seed)
  const pick = <One>(some: readonly One[]) => some[Math.floor(random() * some.length)]
  const randomSubset = <One>(some: readonly One[]) =>
    some.filter(() => random() < 0.5).toSorted(() => random() - 0.5)
  const statuses = ['new', 'shortlisted', 'accepted', 'waitlisted', 'declined']
  const text = { subject: 'By train', body: 'Take the train, {{first_name}}.' }
  const sent = { result: 'done', code: 250 } as const
  const mailResults: RecordedResult[] = [
    sent,
    { result: 'failed', code: 550, reply: '550 no' },
    { result: 'waiting', code: 450, reply: '450 later', isUncertain: false },
    { result: 'waiting', code: null, reply: 'It broke off.', isUncertain: true },
  ]
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
    comeBack: call('came_back', ({ letters }) => ({
      act: crypto.randomUUID(),
      letter: pick(letters.filter(({ state }) => state === 'sent'))?.id ?? missingId,
    })),
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
      await (random() < 0.5 ? claimLetter(owner) : claimDue(owner, 'decision', 1))
      if (random() < 0.5) await expireLeases()
      return ''
    },
    // Changes whether a mail sender and an automation run.
    changeServers: async () => {
      const [sendsMail, sendsWebhooks] = [random() < 0.7, random() < 0.7]
      await owner`
          update private.postman set seen_at = case when ${sendsMail} then now() else '-infinity' end,
            automation_seen_at = case when ${sendsWebhooks} then now() else '-infinity' end`
      return ''
    },
    sendWebhooks: async () => {
      for (const claim of await claimDue(owner, 'decision', 3)) {
        await recordTry(owner, claim, pick(webhookResults) ?? delivered)
      }
      return ''
    },
    upkeep: async () => {
      await owner`update private.organisers set day_due_at = now()`
      await Promise.all([recordHeartbeat(owner, 'mail sender'), tidyNotices(owner)])
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
  expect({ unexpectedRefusals, deadlocks: await deadlocks() }).toEqual({
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
      const [claim, claims] = [await claimLetter(owner), await claimDue(owner, 'decision', 10)]
      if (claim) await record(owner, claim, sent)
      for (const each of claims) await recordTry(owner, each, delivered)
      if (claim === undefined && claims.length === 0) break
    }
  }
  expect(
    await owner`select from private.deliveries where kind <> 'application' and state = 'sending'`,
  ).toEqual([])
  expect(await findFaults(owner, discarded)).toEqual([])
})
