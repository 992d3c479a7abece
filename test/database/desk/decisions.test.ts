import { expect, test } from 'vitest'
import { askDesk, type Outcome } from '../../support/ask-desk.ts'
import { applicationDesk, aWord } from '../../support/application-server-for-test-file.ts'

const desk = applicationDesk()
const { store, openDetails, decide } = desk

// break: outdated-decision-saved
test('a decision about the current version of a status is saved; any other is refused with the current status and its author', async () => {
  const id = await store()
  const other = await desk.server.signedIn()
  const [first] = await decide([{ id, status: 'shortlisted', version: 0 }])
  expect(first).toEqual({
    id,
    outcome: 'kept',
    status: 'shortlisted',
    version: 1,
    author: desk.me,
    at: expect.any(String) as string,
    stopped: 0,
  })
  const [stale] = await decide([{ id, status: 'declined', version: 0 }], other.client)
  expect(stale).toEqual({ ...first, outcome: 'stale' })
  expect((await openDetails(id)).application).toMatchObject({ status: 'shortlisted', version: 1 })
  // With the current version, the decision is saved, and can be undone.
  expect(await decide([{ id, status: 'declined', version: 1 }], other.client)).toMatchObject([
    { outcome: 'kept', status: 'declined', version: 2, author: other.email },
  ])
  expect(await decide([{ id, status: 'new', version: 2 }])).toMatchObject([
    { outcome: 'kept', status: 'new', version: 3 },
  ])
  // A decision for the current status is not recorded.
  expect(await decide([{ id, status: 'new', version: 3 }])).toMatchObject([
    { outcome: 'kept', status: 'new', version: 3 },
  ])
  const { history, application } = await openDetails(id)
  expect(application).toMatchObject({ status: 'new', version: 3 })
  expect(history.map(({ author, kind, detail }) => [author, kind, detail])).toEqual([
    [desk.me, 'status', { status: 'shortlisted', former: 'new' }],
    [other.email, 'status', { status: 'declined', former: 'shortlisted' }],
    [desk.me, 'status', { status: 'new', former: 'declined' }],
  ])
  // A missing version is stale, and so is one that does not exist yet.
  expect(await decide([{ id, status: 'accepted' }])).toMatchObject([{ outcome: 'stale' }])
  expect(await decide([{ id, status: 'accepted', version: 4 }])).toMatchObject([{ outcome: 'stale' }])
})

// break: repeated-decision-made-twice
test('repeating an act gives the same response and changes nothing', async () => {
  const [kept, erased] = [await store(), await store()]
  const act = crypto.randomUUID()
  const decisions = [
    { id: kept, status: 'accepted', version: 0 },
    { id: erased, status: 'accepted', version: 0 },
  ]
  const first = await decide(decisions, desk.client, act)
  expect(first.map(({ outcome }) => outcome)).toEqual(['kept', 'kept'])
  const repeats = await Promise.all([1, 2, 3, 4].map(() => decide(decisions, desk.client, act)))
  expect(repeats).toEqual([first, first, first, first])
  expect((await openDetails(kept)).history).toHaveLength(1)

  // The same holds for concurrent repeats: a client that lost a response may retry while the first call still runs.
  const [id, once] = [await store(), crypto.randomUUID()]
  const all = await Promise.all(
    [1, 2, 3, 4].map(() => decide([{ id, status: 'declined', version: 0 }], desk.client, once)),
  )
  expect(new Set(all.map((response) => JSON.stringify(response))).size).toBe(1)
  expect(all[0]).toMatchObject([{ outcome: 'kept', version: 1 }])
  expect((await openDetails(id)).history).toHaveLength(1)

  // A repeat gets the same response even after somebody else decided. The same act with other decisions, or by somebody else, is
  // refused.
  const other = await desk.server.signedIn()
  await decide([{ id, status: 'waitlisted', version: 1 }], other.client)
  expect(await decide([{ id, status: 'declined', version: 0 }], desk.client, once)).toEqual(all[0])
  expect((await openDetails(id)).application.status).toBe('waitlisted')
  for (const [given, caller] of [
    [[{ id: kept, status: 'declined', version: 0 }], desk.client],
    [decisions, other.client],
  ] as const) {
    await expect(decide([...given], caller, act)).rejects.toMatchObject({ code: 'PT409' })
  }

  // An erasure removes its applications from the stored result. The result itself is deleted after a day.
  const results = async () =>
    JSON.stringify(await desk.server.database.owner`select result from private.acts`)
  expect(await results()).toContain(erased)
  await desk.server.database.owner`delete from public.retreat_applications where id = ${erased}`
  expect(await results()).not.toContain(erased)
  expect(await decide(decisions, desk.client, act)).toEqual(first.filter((outcome) => outcome.id === kept))
  await desk.server.database
    .owner`update private.acts set at = now() - interval '25 hours' where act = ${act}`
  await decide([], desk.client, crypto.randomUUID())
  expect(await desk.server.database.owner`select from private.acts where act = ${act}`).toHaveLength(0)
})

test('each of several decisions in one call has its own outcome', async () => {
  const [kept, stale, unchanged] = [await store(), await store(), await store()]
  const gone = crypto.randomUUID()
  const other = await desk.server.signedIn()
  await decide([{ id: stale, status: 'declined', version: 0 }], other.client)
  const outcomes = await decide([
    { id: gone, status: 'accepted', version: 0 },
    { id: unchanged, status: 'new', version: 0 },
    { id: stale, status: 'accepted', version: 0 },
    { id: kept, status: 'accepted', version: 0 },
  ])
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.id, outcome]))
  expect(outcomeOf.size).toBe(4)
  expect(outcomeOf.get(gone)).toEqual({ id: gone, outcome: 'gone' })
  expect(outcomeOf.get(stale)).toMatchObject({ outcome: 'stale', status: 'declined', author: other.email })
  expect(outcomeOf.get(kept)).toMatchObject({
    outcome: 'kept',
    status: 'accepted',
    version: 1,
    author: desk.me,
  })
  expect(outcomeOf.get(unchanged)).toMatchObject({ outcome: 'kept', status: 'new', version: 0, author: null })

  // An invalid decision leaves all applications of the call unchanged.
  for (const [decisions, code] of [
    [
      [
        { id: unchanged, status: 'accepted', version: 0 },
        { id: kept, status: 'perhaps', version: 1 },
      ],
      '23514',
    ],
    [
      [
        { id: unchanged, status: 'accepted', version: 0 },
        { id: kept, version: 1 },
      ],
      '23502',
    ],
    [[{ id: 'x', status: 'accepted', version: 0 }], '22P02'],
    [{ id: unchanged }, '22023'],
    [Array.from({ length: 1001 }, () => ({ id: gone, status: 'new', version: 0 })), '22023'],
  ] as const) {
    const response = await desk.client.rpc('desk_decide', { act: crypto.randomUUID(), decisions })
    expect(response).toMatchObject({ status: 400, error: { code } })
  }
  expect((await openDetails(unchanged)).application).toMatchObject({ status: 'new', version: 0 })
  expect(await decide([])).toEqual([])
})

test('two organisers deciding at once in opposite orders do not deadlock; each application gets one decision', async () => {
  const other = await desk.server.signedIn()
  for (let round = 0; round < 4; round += 1) {
    const ids = await Promise.all(Array.from({ length: 40 }, () => store()))
    const decisions = (status: string) => ids.map((id) => ({ id, status, version: 0 }))
    const [mine, theirs] = await Promise.all([
      decide(decisions('accepted')),
      decide(decisions('declined').toReversed(), other.client),
    ])
    const kept = (outcomes: Outcome[]) =>
      outcomes.filter(({ outcome }) => outcome === 'kept').map(({ id }) => id)
    expect([...kept(mine), ...kept(theirs)].toSorted()).toEqual(ids.toSorted())
    const found = await Promise.all(ids.map((id) => openDetails(id)))
    for (const { application, history } of found) {
      const isMine = kept(mine).includes(application.id)
      expect(application).toMatchObject({ status: isMine ? 'accepted' : 'declined', version: 1 })
      expect(history).toMatchObject([{ author: isMine ? desk.me : other.email }])
    }
  }
})

test('if the same applications are erased and decided at once, all decisions are saved, or all are refused as gone', async () => {
  const other = await desk.server.signedIn()
  for (let round = 0; round < 4; round += 1) {
    const email = `${aWord()}@example.com`
    const ids = []
    for (let index = 0; index < 40; index += 1) ids.push(await store({ email }))
    const [outcomes, erased] = await Promise.all([
      decide(ids.toSorted().map((id) => ({ id, status: 'accepted', version: 0 }))),
      askDesk(other.client, 'erase', { applications: ids.toSorted().toReversed(), email }),
    ])
    expect(erased).toEqual({ erased: 40 })
    expect(new Set(outcomes.map(({ outcome }) => outcome)).size).toBe(1)
    expect(
      await desk.server.database.owner`select from private.statuses where application_id = any(${ids})`,
    ).toHaveLength(0)
  }
})
