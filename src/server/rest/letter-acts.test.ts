import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { seedsOf } from '../../../testing/extent.ts'
import { findFaults } from '../../../testing/letters.ts'
import { claimLetter, claimReceipt } from '../../../testing/claims.ts'
import { anApplication } from '../../../testing/form.ts'
import { randomFrom } from '../../../testing/random.ts'
import { startSignIn, type SignInServer } from '../../../testing/sign-in.ts'
import type { Letter } from '../../client/desk/letters.ts'
import { tidyNotices } from '../letters/notices.ts'
import { outboxOf } from '../deliveries/outbox.ts'
import { recordHeartbeat } from '../deliveries/record.ts'
import { giveBack, record, type RecordedResult } from '../letters/outcomes.ts'
import { retryUndelivered } from '../letters/overview.ts'
import type { DeliveryResult } from '../deliveries/webhook.ts'
import type { Sql } from '../database/sql.ts'
import { valuesOf } from '../../../testing/sql.ts'

/** The number of acts that run concurrently. A seed chooses the acts, but not their order. */
const acts = Number(process.env['LETTER_ACTS'] ?? 400)
const players = 8
const seeds = seedsOf(1, 20)
/** An id that does not exist. */
const nobody = '00000000-0000-0000-0000-000000000000'

let server: SignInServer
let owner: Sql
let clients: SupabaseClient[]

beforeAll(async () => {
  server = await startSignIn()
  owner = server.database.owner
  clients = await Promise.all([server.signedIn(), server.signedIn()]).then((signedIn) =>
    signedIn.map(({ client }) => client),
  )
  await owner`update private.letter_settings set receipts = true, hold = '0'`
  await owner`update private.organisers set notices = 'daily'`
})

beforeEach(async () => {
  await owner`delete from public.retreat_applications`
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

/** The SQLSTATE of a refusal by a function of the desk; '' where it responds. */
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

const waiting = (name: string) =>
  owner`select from pg_stat_activity where wait_event_type = 'Lock' and query like ${`%desk_${name}%`}`

test('each act on a letter locks its application before it, as erasing does', async () => {
  const acting: [string, (draft: Letter, receipt: Letter) => object][] = [
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
  for (const [name, argsOf] of acting) {
    const id = await store()
    await decide(id, 'accepted')
    const letters = await lettersOf([id])
    const draft = letters.find(({ state }) => state === 'draft')
    const receipt = letters.find(({ occasion }) => occasion === 'received')
    if (draft === undefined || receipt === undefined)
      throw new Error('A decision leaves a draft, and a receipt waits.')
    const called = await owner.begin(async (erasing) => {
      // Like another organiser who acts on this application's letters, and unlike erasing.
      await erasing`select from public.retreat_applications where id = ${id} for no key update`
      const call = codeOf(name, argsOf(draft, receipt))
      await expect.poll(() => waiting(name), { message: name }).toHaveLength(1)
      await erasing`select from private.statuses where application_id = ${id} for update nowait`
      await erasing`select from private.letters where application_id = ${id} for update nowait`
      await erasing`select from private.deliveries where application_id = ${id} for update nowait`
      return { call }
    })
    expect([`${name} `, `${name} PT409`]).toContain(`${name} ${await called.call}`)
  }
})

test('a letter to one person that returns as a draft while another is written waits for that one', async () => {
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

test('a template that drafts are being made of cannot be removed meanwhile', async () => {
  const template = { occasion: 'Travel', version: null, subject: 'By train', body: 'Take the train.' }
  expect(await codeOf('set_template', template)).toBe('')
  const id = await store()
  const { removing } = await owner.begin(async (writing) => {
    const { data } = (await clients[0]?.auth.getClaims()) ?? {}
    await writing`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
    await writing`select desk_write(array[${id}::uuid], 'Travel')`
    const call = codeOf('remove_template', { occasion: 'Travel', version: 0 })
    await expect.poll(() => waiting('remove_template')).toHaveLength(1)
    return { removing: call }
  })
  expect(await removing).toBe('')
  expect(await owner`select from private.letters where template = 'Travel' and state = 'draft'`).toEqual([])
})

test('storing an application does not wait for the daily email', async () => {
  await owner.begin(async (telling) => {
    await telling`update private.organisers set day_due_at = now()`
    await telling`select private.write_day_notices()`
    // Like a notice of an application.
    expect(await owner`select from private.organisers for key share nowait`).toHaveLength(clients.length)
  })
})

test('a test letter whose application is erased meanwhile is refused in a sentence', async () => {
  const application = await store()
  const given = { subject: 's', body: 'Hello {{first_name}}', application, act: crypto.randomUUID() }
  const { testing } = await owner.begin(async (erasing) => {
    await erasing`delete from public.retreat_applications where id = ${application}`
    const call = codeOf('send_test', given)
    await expect.poll(() => waiting('send_test')).toHaveLength(1)
    return { testing: call }
  })
  expect(await testing).toBe('PT404')
})

const patience = { timeout: 300_000 + acts * 500 }

test.each(seeds)(`${acts} concurrent acts on letters, by seed %i, never deadlock`, patience, async (seed) => {
  const random = randomFrom(seed)
  const pick = <One>(some: readonly One[]) => some[Math.floor(random() * some.length)]
  const several = <One>(some: readonly One[]) =>
    some.filter(() => random() < 0.5).toSorted(() => random() - 0.5)
  const statuses = ['new', 'shortlisted', 'accepted', 'waitlisted', 'declined']
  const text = { subject: 'By train', body: 'Take the train, {{first_name}}.' }
  const sent = { outcome: 'sent', code: 250 } as const
  const results: RecordedResult[] = [
    sent,
    { outcome: 'refused', code: 550, reply: '550 no' },
    { outcome: 'retry', code: 450, reply: '450 later', isUncertain: false },
    { outcome: 'retry', code: null, reply: 'It broke off.', isUncertain: true },
  ]
  const automation = outboxOf('decision')
  const delivered: DeliveryResult = { delivered: true, status: 200, text: '' }
  const replies: DeliveryResult[] = [
    delivered,
    { delivered: false, status: 410, text: 'Gone' },
    { delivered: false, status: 500, text: 'Later' },
    { delivered: false, status: null, isUncertain: true, text: 'It broke off.' },
  ]
  const discarded = new Set<string>()
  /** As if the servers that claimed something had died some time ago, and waiting deliveries had waited. */
  const expireLeases = () =>
    owner`update private.deliveries set due_at = now() where due_at is not null and kind <> 'application'`
  for (let many = 0; many < 6; many += 1) await store()

  const act = async () => {
    const [client, name] = [pick(clients), pick(Object.keys(kinds))]
    const applications = (await owner<{ id: string }[]>`select id from public.retreat_applications`).map(
      ({ id }) => id,
    )
    const letters = await lettersOf(applications)
    const code = await kinds[name ?? '']?.({ client, applications, letters })
    return { name, code: code ?? '' }
  }
  type Given = { client: SupabaseClient | undefined; applications: string[]; letters: Letter[] }
  const call =
    (name: string, argsOf: (given: Given) => object) =>
    (given: Given): Promise<string> =>
      codeOf(name, argsOf(given), given.client)
  const drafts = ({ letters }: Given) => letters.filter(({ state }) => state === 'draft')
  const ids = (letters: readonly Letter[]) => letters.map(({ id }) => id)
  const kinds: Record<string, (given: Given) => Promise<string>> = {
    decide: async ({ client }) => {
      const rows = await owner<{ id: string; version: number }[]>`
        select id, coalesce(version, 0) as version
        from public.retreat_applications left join private.statuses on application_id = id`
      const decisions = several(rows).map((row) => ({ ...row, status: pick(statuses) }))
      return codeOf('decide', { act: crypto.randomUUID(), decisions }, client)
    },
    release: call('release', (given) => ({
      act: crypto.randomUUID(),
      letters: several(drafts(given)).map(({ id, seen }) => ({ id, seen })),
      again: true,
    })),
    stopAct: call('withdraw', ({ letters }) => ({ act: pick(letters)?.act ?? nobody })),
    stop: call('withdraw', ({ letters }) => ({ letters: ids(several(letters)) })),
    write: call('write', ({ applications }) => ({
      applications: several(applications),
      occasion: pick(['Travel', 'accepted', 'declined']),
      again: random() < 0.5,
    })),
    edit: call('edit', (given) => {
      const letter = pick(drafts(given))
      return { letter: letter?.id ?? nobody, seen: letter?.seen ?? '', subject: 's', body: 'b' }
    }),
    discard: call('discard', (given) => {
      const letter = pick(drafts(given))?.id ?? nobody
      discarded.add(letter)
      return { letters: [letter] }
    }),
    writeTo: call('write_to', ({ applications }) => ({
      act: crypto.randomUUID(),
      application: pick(applications) ?? nobody,
      subject: 's',
      body: 'b',
    })),
    remind: call('remind', () => ({})),
    answer: call('set_answer', ({ applications }) => ({
      act: crypto.randomUUID(),
      application: pick(applications) ?? nobody,
      answer: pick(['coming', 'not coming', null]) ?? null,
    })),
    byHand: call('sent_by_hand', (given) => {
      const letter = pick(drafts(given))
      return { letter: letter?.id ?? nobody, seen: letter?.seen ?? '' }
    }),
    retry: call('retry', ({ letters }) => ({ letters: ids(several(letters)) })),
    settle: call('settle', ({ letters }) => ({ letters: ids(several(letters)).slice(0, 2) })),
    readdress: call('readdress', ({ letters }) => ({
      act: crypto.randomUUID(),
      letter: pick(letters.filter(({ state }) => state === 'refused'))?.id ?? nobody,
      address: 'b@example.org',
    })),
    setTemplate: call('set_template', () => ({ occasion: 'Travel', version: null, ...text })),
    removeTemplate: call('remove_template', () => ({ occasion: 'Travel', version: 0 })),
    test: call('send_test', () => ({ ...text, act: crypto.randomUUID() })),
    erase: async ({ client, applications }) => {
      const rows = await owner<{ id: string; email: string }[]>`
        select id, email from public.retreat_applications where id = ${pick(applications) ?? nobody}`
      const code = await codeOf(
        'erase',
        { applications: rows.map(({ id }) => id), email: rows[0]?.email ?? '' },
        client,
      )
      await store()
      return code
    },
    carry: async () => {
      const claim = await (random() < 0.3 ? claimReceipt : claimLetter)(owner)
      if (claim) await (random() < 0.1 ? giveBack(owner, claim) : record(owner, claim, pick(results) ?? sent))
      return ''
    },
    lose: async () => {
      await (random() < 0.5 ? claimLetter(owner) : automation.claimDue(owner, 1))
      if (random() < 0.5) await expireLeases()
      return ''
    },
    // The running servers: a mail server, an automation beside it, or in its place.
    work: async () => {
      const [isPostman, isAutomation] = [random() < 0.7, random() < 0.7]
      await owner`
          update private.postman set seen_at = case when ${isPostman} then now() + interval '1 day' else '-infinity' end,
            automation_seen_at = case when ${isAutomation} then now() + interval '1 day' else '-infinity' end`
      return ''
    },
    tell: async () => {
      for (const claim of await automation.claimDue(owner, 3)) {
        await automation.record(owner, claim, pick(replies) ?? delivered)
      }
      return ''
    },
    keep: async () => {
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

  const refusals = done.filter(({ code }) => !['', 'PT409', 'PT404', '22023', 'PT429'].includes(code))
  expect(refusals).toEqual([])
  // Otherwise only refusals would have been played.
  expect(new Set(done.filter(({ code }) => code === '').map(({ name }) => name)).size).toBeGreaterThan(10)
  expect(await findFaults(owner, discarded)).toEqual([])
  // Even after everything lost is settled, and everything waiting has arrived.
  for (let idle = 0; idle < 3; idle += 1) {
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
