import { expect, test } from 'vitest'

import type { Letter, LettersOverview } from '../../../src/client/desk/letters.ts'
import { letterDesk, outcomesOf, statesOf, type Page } from '../../support/letter-server-for-test-file.ts'

const {
  client,
  me,
  sql,
  ask,
  store,
  decide,
  drafts,
  lettersOf,
  release,
  correctTemplate,
  another,
  blindReader,
} = letterDesk()

test('a letter is released only once, even by two organisers at once and on a repeat', async () => {
  const ids = [await store(), await store({ email: 'b@example.org' })]
  for (const id of ids) await decide(id, 'accepted')
  const { letters } = await drafts()
  const other = (await another()).client
  const toRelease = letters.map(({ id, seen }) => ({ id, seen }))
  const act = crypto.randomUUID()
  const both = await Promise.all([
    ask<{ outcome: string }[]>('release', { act, letters: toRelease }),
    ask<{ outcome: string }[]>('release', { act: crypto.randomUUID(), letters: toRelease }, other),
  ])
  expect(both.map((each) => outcomesOf(each).join()).toSorted()).toEqual(['gone,gone', 'released,released'])
  const isFirstWinner = both[0]?.[0]?.outcome === 'released'
  const repeated = await ask<{ outcome: string }[]>('release', { act, letters: toRelease })
  expect(outcomesOf(repeated)).toEqual(isFirstWinner ? ['released', 'released'] : ['gone', 'gone'])
  expect(statesOf(await lettersOf(...ids))).toEqual(['accepted: waiting', 'accepted: waiting'])
  const due = await sql()<{ wait: number }[]>`
    select extract(epoch from due_at - queued_at)::int as wait from private.letter_deliveries`
  expect(due).toEqual([{ wait: 60 }, { wait: 60 }])
})

/** Stores people who are accepted, without a decision of an organiser. */
async function storeAccepted(count: number) {
  await sql()`
    insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
    select 'Ada', 'L', 'a' || n || '@example.org', '1', 'l', 'c', 'r' || n, true from generate_series(1, ${count}::int) as n`
  await sql()`
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, 'accepted', 1 from public.retreat_applications`
}

test('the drafts of all decisions come status by status, page by page, and drafts of other templates are not among them', async () => {
  await storeAccepted(61)
  await sql()`
    update private.statuses set status = case when application_id in (
      select application_id from private.statuses order by application_id limit 5) then 'declined' else 'waitlisted' end
    where application_id in (select application_id from private.statuses order by application_id limit 20)`
  const [{ id }] = await sql()<[{ id: string }]>`select application_id as id from private.statuses limit 1`
  await ask('write', { applications: [id], occasion: 'reminder' })
  const first = await ask<Page>('drafts', { occasion: null })
  const last = await ask<Page>('drafts', { occasion: null, after: first.next })
  expect([first.letters.length, last.letters.length, last.next]).toEqual([50, 11, null])
  const letters = [...first.letters, ...last.letters]
  expect(new Set(letters.map((letter) => letter.id)).size).toBe(61)
  const occasions = letters.map(({ occasion }) => occasion)
  const counts = { accepted: 41, waitlisted: 15, declined: 5 }
  expect(occasions).toEqual(
    Object.entries(counts).flatMap(([status, count]) => Array.from({ length: count }, () => status)),
  )
})

test('a release of more than thirty letters has to state their count, and no letter is released without a running mail sender', async () => {
  await storeAccepted(61)
  const { letters, next } = await drafts()
  expect(letters).toHaveLength(50)
  const last = await ask<Page>('drafts', { occasion: 'accepted', after: next })
  expect(last).toMatchObject({ next: null })
  expect(new Set([...letters, ...last.letters].map(({ id }) => id)).size).toBe(61)
  const { templates } = await ask<{ templates: object[] }>('letters')
  expect(templates).toMatchObject([
    { occasion: 'received', drafts: { count: 0, more: false } },
    { occasion: 'accepted', drafts: { count: 61, more: false } },
    { occasion: 'waitlisted', drafts: { count: 0, more: false } },
    { occasion: 'declined', drafts: { count: 0, more: false } },
    { occasion: 'reminder', drafts: { count: 0, more: false } },
    { occasion: 'confirmed', drafts: { count: 0, more: false } },
    { occasion: 'questions', drafts: { count: 0, more: false } },
  ])
  for (const number of [null, 49, 51]) {
    await expect(release(letters, { number })).rejects.toMatchObject({ code: '22023' })
  }
  await sql()`update private.postman set seen_at = now() - interval '2 minutes'`
  await expect(release(letters, { number: 50 })).rejects.toMatchObject({ code: 'PT409' })
  await sql()`update private.postman set seen_at = now()`
  expect(new Set(outcomesOf(await release(letters, { number: 50 })))).toEqual(new Set(['released']))
})

test('letters cannot be released without an act id', async () => {
  await decide(await store(), 'accepted')
  const { letters } = await drafts()
  await expect(release(letters, { act: null })).rejects.toMatchObject({ code: '22023' })
  expect((await drafts()).letters).toEqual(letters)
})

test('an organiser who reads blind releases only the text that they read, even while the template is changed', async () => {
  const blind = await blindReader()
  await storeAccepted(100)
  const texts = ['One, {{first_name}}.', 'Two, {{first_name}}.'] as const
  await correctTemplate('accepted', texts[0])
  const { letters } = await drafts()
  const seen = letters[0]?.seen ?? ''
  const ids = await sql()<{ id: string }[]>`select id from private.letters where state = 'draft'`
  let isReleasing = true
  const change = async () => {
    while (isReleasing) for (const text of [texts[1], texts[0]]) await correctTemplate('accepted', text)
  }
  const releaseAll = async () => {
    try {
      for (let round = 0; round < 5; round += 1) {
        const wanted = ids.map(({ id }) => ({ id, seen }))
        await ask('release', { act: crypto.randomUUID(), letters: wanted, number: ids.length }, blind)
      }
    } finally {
      isReleasing = false
    }
  }
  await Promise.all([change(), releaseAll()])
  const bodies = await sql()<{ body: string }[]>`
    select distinct body from private.letter_deliveries where state = 'waiting'`
  expect(bodies).toEqual([{ body: 'One, Ada.' }])
})

test('an organiser who reads blind cannot release a letter that is too long once it is filled in', async () => {
  const blind = await blindReader()
  const id = await store({ company: 'x'.repeat(9000) })
  await decide(id, 'accepted')
  await correctTemplate('accepted', '{{company}} {{company}} {{company}}')
  expect(
    outcomesOf(
      await ask(
        'release',
        {
          act: crypto.randomUUID(),
          letters: (await lettersOf(id)).map(({ id: letter, seen }) => ({ id: letter, seen })),
        },
        blind,
      ),
    ),
  ).toEqual(['long'])
})

// break: changed-letter-sent
test('a letter that changed after it was read, or that quotes a blank form answer, cannot be released', async () => {
  const id = await store({ team_size: '' })
  await decide(id, 'declined')
  const { letters: outdated } = await drafts('declined')
  const saveTemplate = (version: number, body: string) =>
    ask<{ version: number }>('set_template', {
      occasion: 'declined',
      version,
      subject: 'About {{company}}',
      body,
    })
  const { templates } = await ask<{ templates: { occasion: string; version: number }[] }>('letters')
  const version = templates.find(({ occasion }) => occasion === 'declined')?.version ?? 0
  await saveTemplate(version, 'A team of {{ team_size }}.')
  expect(outcomesOf(await release(outdated))).toEqual(['changed'])
  const { letters } = await drafts('declined')
  expect(letters).toMatchObject([{ missing: ['team_size'], unknown: [] }])
  expect(outcomesOf(await release(letters))).toEqual(['missing'])
  await saveTemplate(version + 1, 'Not this time.')
  expect(outcomesOf(await release((await drafts('declined')).letters))).toEqual(['released'])
})

test('an act that is repeated after a lost response gets the first result', async () => {
  for (const id of [await store(), await store({ email: 'b@example.org' })]) await decide(id, 'accepted')
  const [draft, spare] = (await drafts()).letters
  const twice = async (name: string, args: object) => {
    const first = await ask(name, args)
    expect(await ask(name, args)).toEqual(first)
    return first
  }
  const edit = { letter: draft?.id, seen: draft?.seen, subject: 'For you', body: 'Only for you.' }
  const edited = await twice('edit', edit)
  expect(edited).toMatchObject({ is_edited: true })
  const { seen } = edited as Letter
  expect(await twice('edit', { ...edit, seen, subject: '', body: '' })).toMatchObject({ is_edited: false })
  expect(await twice('discard', { letters: [spare?.id] })).toEqual({ discarded: 1 })
  const act = crypto.randomUUID()
  const written = await twice('write', { act, applications: [spare?.application], occasion: 'accepted' })
  expect(written).toMatchObject([{ outcome: 'drafted' }])
  const testLetter = { occasion: 'accepted', subject: 's', body: 'b', act: crypto.randomUUID() }
  await twice('send_test', testLetter)
  expect(await sql()`select from private.deliveries where kind = 'test'`).toHaveLength(1)
  const byHand = { letter: draft?.id, seen: draft?.seen }
  expect(await twice('sent_by_hand', byHand)).toMatchObject({ state: 'sent', author: me() })
  const { client: somebody } = await another()
  await expect(ask('sent_by_hand', byHand, somebody)).rejects.toMatchObject({ code: 'PT409' })
})

test('a decision waits while letters are being stopped, so that no draft of an outdated decision remains', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const act = crypto.randomUUID()
  await release((await drafts()).letters, { act })
  const { data } = await client().auth.getSession()
  const [, claims = ''] = data.session?.access_token.split('.') ?? []
  const { decided } = await sql().begin(async (stopping) => {
    await stopping`select set_config('request.jwt.claims', ${Buffer.from(claims, 'base64url').toString()}, true)`
    await stopping`select desk_withdraw(act => ${act})`
    const deciding = decide(id, 'declined')
    const waiting = () =>
      sql()`select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%desk_decide%'`
    await expect.poll(waiting).toHaveLength(1)
    // In an object, because the transaction would wait for a promise that it returns.
    return { decided: deciding }
  })
  await decided
  expect(statesOf(await lettersOf(id)).toSorted()).toEqual(['accepted: withdrawn', 'declined: draft'])
})

test('a stopped letter becomes a draft that follows its template again, unless somebody edited it', async () => {
  const ids = [
    await store(),
    await store({ email: 'b@example.org' }),
    await store({ email: 'c@example.org' }),
  ]
  for (const id of ids) await decide(id, 'accepted')
  const act = crypto.randomUUID()
  const [, edited] = (await drafts()).letters
  await ask('edit', { letter: edited?.id, seen: edited?.seen, subject: 'For you', body: 'Only for you.' })
  const { letters } = await drafts()
  await release(letters, { act })
  await sql()`
    update private.deliveries set state = 'sending' where kind = 'letter' and application_id = ${ids[0] ?? ''}`
  expect(await ask('withdraw', { act })).toEqual({ withdrawn: 2, left: 1 })
  // A repeat after a lost response.
  expect(await ask('withdraw', { act })).toEqual({ withdrawn: 2, left: 1 })
  await correctTemplate('accepted', 'Hello {{first_name}}, this is corrected.')
  const { letters: stopped } = await drafts()
  const texts = stopped.map(({ body, is_edited }) => ({ body, is_edited }))
  expect(texts).toHaveLength(2)
  expect(texts).toContainEqual({ body: 'Hello Ada, this is corrected.', is_edited: false })
  expect(texts).toContainEqual({ body: 'Only for you.', is_edited: true })
  expect(await lettersOf(...ids)).toContainEqual(
    expect.objectContaining({ state: 'withdrawn', withdrawn_by: me(), body: letters[0]?.body }),
  )
})

test('stopping a letter while it is being released stops both its email and its webhook', async () => {
  await sql()`update private.postman set automation_seen_at = now()`
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await lettersOf(id)
  const { stopping } = await sql().begin(async (releasing) => {
    const { data } = await client().auth.getClaims()
    await releasing`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
    const letters = JSON.stringify([{ id: draft?.id, seen: draft?.seen }])
    await releasing`select desk_release(gen_random_uuid(), ${letters}::text::jsonb)`
    const call = ask('withdraw', { letters: [draft?.id] })
    await expect
      .poll(
        () =>
          sql()`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%desk_withdraw%'`,
      )
      .toHaveLength(1)
    return { stopping: call }
  })
  expect(await stopping).toEqual({ withdrawn: 1, left: 0 })
  expect(await sql()`select from private.letter_deliveries where state = 'waiting'`).toHaveLength(0)
})

test('a letter that another decision withdrew is not counted as stopped', async () => {
  const ids = [await store(), await store({ email: 'b@example.org' })]
  for (const id of ids) await decide(id, 'accepted')
  const act = crypto.randomUUID()
  await release((await drafts()).letters, { act })
  await decide(ids[0] ?? '', 'new')
  expect(await ask('withdraw', { act })).toEqual({ withdrawn: 1, left: 0 })
})

test('a stopped letter does not become a draft if its template was removed', async () => {
  const text = { occasion: 'Parking', subject: 'Where to park', body: 'Nowhere.' }
  await ask('set_template', { ...text, version: null })
  const id = await store()
  await ask('write', { applications: [id], occasion: 'Parking' })
  const { letters } = await drafts('Parking')
  await release(letters)
  await ask('remove_template', { occasion: 'Parking', version: 0 })
  expect(await ask('withdraw', { letters: letters.map((letter) => letter.id) })).toEqual({
    withdrawn: 1,
    left: 0,
  })
  expect(statesOf(await lettersOf(id))).toEqual(['Parking: withdrawn'])
})

test('resumed letters can be stopped for another minute, even if resuming is repeated', async () => {
  const [ada, alan] = [await store({ email: 'ada@example.org' }), await store({ email: 'alan@example.org' })]
  await decide(ada, 'accepted')
  await decide(alan, 'accepted')
  await release((await drafts()).letters)
  await sql()`update private.deliveries set due_at = now() - interval '1 hour' where kind = 'letter'`
  // The mail server deferred this letter, so its time stays unchanged.
  await sql()`
    update private.deliveries set attempts = 1 where kind = 'letter' and application_id = ${alan}`
  expect(await ask('stop', { stopped: true })).toEqual({ stopped: true, leaving: 0 })
  for (let times = 0; times < 2; times += 1) {
    expect(await ask('stop', { stopped: false })).toEqual({ stopped: false, leaving: 1 })
    const { leaving } = await ask<LettersOverview>('letters')
    expect(leaving.map(({ count }) => count)).toEqual([1])
    expect(leaving[0]?.seconds).toBeGreaterThan(0)
  }
  expect(
    await sql()`
      select application_id from private.deliveries where kind = 'letter' and due_at > now()`,
  ).toEqual([{ application_id: ada }])
})

test('letters on their way name a single recipient, and nobody to a blind reader', async () => {
  for (const email of ['b@example.org', 'c@example.org']) await decide(await store({ email }), 'accepted')
  await release((await drafts()).letters)
  await decide(await store({ first_name: 'Grace', last_name: 'Hopper' }), 'accepted')
  await release((await drafts()).letters)
  const leavingTo = async (caller = client()) =>
    (await ask<LettersOverview>('letters', {}, caller)).leaving.map(({ count, name }) => [count, name])
  expect(await leavingTo()).toEqual([
    [2, null],
    [1, 'Grace Hopper'],
  ])
  expect(await leavingTo(await blindReader())).toEqual([
    [2, null],
    [1, null],
  ])
})

test('stopping all letters is recorded once', async () => {
  const isStopped = async () => (await ask<{ postman: { stopped: boolean } }>('letters')).postman.stopped
  expect(await isStopped()).toBe(false)
  for (const stopped of [true, true, false]) {
    expect(await ask('stop', { stopped })).toEqual({ stopped, leaving: 0 })
    expect(await isStopped()).toBe(stopped)
  }
  await expect(ask('stop', { stopped: null })).rejects.toMatchObject({ code: '22023' })
  const { happenings } = await ask<{ happenings: { kind: string; detail: object; author: string }[] }>(
    'history',
  )
  expect(happenings.filter(({ detail }) => 'stopped' in detail)).toMatchObject([
    { kind: 'letters', author: me(), detail: { stopped: false } },
    { kind: 'letters', author: me(), detail: { stopped: true } },
  ])
})

test('stopping, releasing, deciding and erasing at the same time do not deadlock', async () => {
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, number) =>
      store({ email: `same${number % 2}@example.org`, company: `${number}` }),
    ),
  )
  for (const id of ids) await decide(id, 'accepted')
  const { letters } = await drafts()
  for (let round = 0; round < 10; round += 1) {
    const act = crypto.randomUUID()
    const decisions = ids.map((id) => ({
      id,
      status: round % 2 ? 'accepted' : 'declined',
      version: round + 1,
    }))
    const results = await Promise.all([
      client().rpc('desk_release', { act, letters: letters.map(({ id, seen }) => ({ id, seen })) }),
      client().rpc('desk_withdraw', { act }),
      client().rpc('desk_stop', { stopped: round % 2 === 0 }),
      client().rpc('desk_decide', { act: crypto.randomUUID(), decisions }),
      client().rpc('desk_write', { applications: ids.toReversed(), occasion: 'accepted', again: true }),
      client().rpc('desk_erase', { applications: [ids[round % 8]], email: `same${round % 2}@example.org` }),
    ])
    expect(results.map(({ error }) => error)).toEqual(Array.from(results, () => null))
  }
})
