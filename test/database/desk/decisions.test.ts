import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { anApplication } from '../../support/form.ts'
import { askDesk, type Details, type Outcome } from '../../support/desk-replies.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in.ts'
import type { Application } from '../../../src/application/application.ts'
import { valuesOf } from '../../support/sql.ts'

let server: SignInServer

let client: SupabaseClient

let me: string

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
})

beforeEach(() => resetDatabase(server.database.owner))

let words = 0

/** Makes a word of letters that no other application of this run has. */
function aWord() {
  words += 1
  return `word${Array.from(String(words), (digit) => 'abcdefghij'[Number(digit)]).join('')}x`
}

/** Stores an application as the database's owner, optionally with its time. Returns its id. */
async function store(changes: Partial<Application> = {}, at?: string) {
  const answers = { ...anApplication(changes), ...(at === undefined ? {} : { created_at: at }) }
  const [row] = await server.database.owner<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(answers)} returning id`
  return row?.id ?? ''
}

const openDetails = (application: string, caller = client) =>
  askDesk<Details>(caller, 'application', { application })

const decide = (decisions: object[], caller = client, act: string = crypto.randomUUID()) =>
  askDesk<Outcome[]>(caller, 'decide', { act, decisions })

// break: outdated-decision-saved
test('a decision about the current version of a status is saved; any other is refused with the current status and its author', async () => {
  const id = await store()
  const other = await server.signedIn()
  const [first] = await decide([{ id, status: 'shortlisted', version: 0 }])
  expect(first).toEqual({
    id,
    outcome: 'kept',
    status: 'shortlisted',
    version: 1,
    author: me,
    at: expect.any(String) as string,
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
    [me, 'status', { status: 'shortlisted', former: 'new' }],
    [other.email, 'status', { status: 'declined', former: 'shortlisted' }],
    [me, 'status', { status: 'new', former: 'declined' }],
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
  const first = await decide(decisions, client, act)
  expect(first.map(({ outcome }) => outcome)).toEqual(['kept', 'kept'])
  const repeats = await Promise.all([1, 2, 3, 4].map(() => decide(decisions, client, act)))
  expect(repeats).toEqual([first, first, first, first])
  expect((await openDetails(kept)).history).toHaveLength(1)

  // The same holds for concurrent repeats: a client that lost a response may retry while the first call still runs.
  const [id, once] = [await store(), crypto.randomUUID()]
  const all = await Promise.all(
    [1, 2, 3, 4].map(() => decide([{ id, status: 'declined', version: 0 }], client, once)),
  )
  expect(new Set(all.map((response) => JSON.stringify(response))).size).toBe(1)
  expect(all[0]).toMatchObject([{ outcome: 'kept', version: 1 }])
  expect((await openDetails(id)).history).toHaveLength(1)

  // A repeat gets the same response even after somebody else decided. The same act with other decisions, or by somebody else, is
  // refused.
  const other = await server.signedIn()
  await decide([{ id, status: 'waitlisted', version: 1 }], other.client)
  expect(await decide([{ id, status: 'declined', version: 0 }], client, once)).toEqual(all[0])
  expect((await openDetails(id)).application.status).toBe('waitlisted')
  for (const [given, caller] of [
    [[{ id: kept, status: 'declined', version: 0 }], client],
    [decisions, other.client],
  ] as const) {
    await expect(decide([...given], caller, act)).rejects.toMatchObject({ code: 'PT409' })
  }

  // An erasure removes its applications from the stored result. The result itself is deleted after a day.
  const results = async () => JSON.stringify(await server.database.owner`select result from private.acts`)
  expect(await results()).toContain(erased)
  await server.database.owner`delete from public.retreat_applications where id = ${erased}`
  expect(await results()).not.toContain(erased)
  expect(await decide(decisions, client, act)).toEqual(first.filter((outcome) => outcome.id === kept))
  await server.database.owner`update private.acts set at = now() - interval '25 hours' where act = ${act}`
  await decide([], client, crypto.randomUUID())
  expect(await server.database.owner`select from private.acts where act = ${act}`).toHaveLength(0)
})

test('each of several decisions in one call has its own outcome', async () => {
  const [kept, stale, unchanged] = [await store(), await store(), await store()]
  const gone = crypto.randomUUID()
  const other = await server.signedIn()
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
  expect(outcomeOf.get(kept)).toMatchObject({ outcome: 'kept', status: 'accepted', version: 1, author: me })
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
    const response = await client.rpc('desk_decide', { act: crypto.randomUUID(), decisions })
    expect(response).toMatchObject({ status: 400, error: { code } })
  }
  expect((await openDetails(unchanged)).application).toMatchObject({ status: 'new', version: 0 })
  expect(await decide([])).toEqual([])
})

test('two organisers deciding at once in opposite orders do not deadlock; each application gets one decision', async () => {
  const other = await server.signedIn()
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
      expect(history).toMatchObject([{ author: isMine ? me : other.email }])
    }
  }
})

test('if the same applications are erased and decided at once, all decisions are saved, or all are refused as gone', async () => {
  const other = await server.signedIn()
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
      await server.database.owner`select from private.statuses where application_id = any(${ids})`,
    ).toHaveLength(0)
  }
})
