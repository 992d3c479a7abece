import { expect, test } from 'vitest'
import { anApplication } from '../../support/form.ts'
import { askDesk, type HistoryEntry, type DeskHistory } from '../../support/ask-desk.ts'
import { applicationDesk, aWord, noInvitation } from '../../support/application-server-for-test-file.ts'

const desk = applicationDesk()
const { store, list, openDetails, decide } = desk

test('a note is added once, replaces no other note, and does not change the status', async () => {
  const id = await store()
  const other = await desk.server.signedIn()
  const act = crypto.randomUUID()
  const note = (text: string | null, actId: string = crypto.randomUUID(), caller = desk.client) =>
    askDesk<HistoryEntry[]>(caller, 'note', { act: actId, application: id, note: text })
  const text = '  Met her in Oslo: "quiet" \\ 🌲\r\n\nsecond line '
  const first = await note(text, act)
  expect(first).toEqual([
    { act, at: expect.any(String) as string, author: desk.me, kind: 'note', detail: { note: text } },
  ])
  expect(await Promise.all([note(text, act), note(text, act)])).toEqual([first, first])
  await decide([{ id, status: 'accepted', version: 0 }])
  expect(await note('I agree.', undefined, other.client)).toMatchObject([
    { author: desk.me, detail: { note: text } },
    { kind: 'status' },
    { author: other.email, kind: 'note', detail: { note: 'I agree.' } },
  ])
  // A note does not change the version: a decision with the version from before the note is saved.
  expect((await openDetails(id)).application).toMatchObject({ status: 'accepted', version: 1 })
  expect(await decide([{ id, status: 'declined', version: 1 }])).toMatchObject([{ outcome: 'kept' }])

  // Another note with a used act is refused, and so is a blank or too long note.
  for (const [usedAct, another] of [
    [act, 'another'],
    [(await openDetails(id)).history[1]?.act, text],
  ]) {
    const response = await desk.client.rpc('desk_note', { act: usedAct, application: id, note: another })
    expect(response).toMatchObject({ status: 409, error: { code: 'PT409' } })
  }
  for (const wrong of ['', ' \r\n\t', null, 'x'.repeat(10_001)]) {
    const response = await desk.client.rpc('desk_note', {
      act: crypto.randomUUID(),
      application: id,
      note: wrong,
    })
    expect(response).toMatchObject({ status: 400, error: { code: '22023' } })
  }
  expect(await note('🌲'.repeat(10_000))).toHaveLength(5)
  expect(
    await desk.client.rpc('desk_note', {
      act: crypto.randomUUID(),
      application: crypto.randomUUID(),
      note: 'x',
    }),
  ).toMatchObject({ status: 404, error: { code: 'PT404' } })
})

test('an opened application has its unchanged form answers, history and delivery, and the other applications with its email', async () => {
  const email = `Twice.${aWord()}@Example.com`
  const given = anApplication({ email, reason: ' as\r\n\u0301 it \t is  ', linkedin: 'javascript:alert(1)' })
  const earlier = await store({ email: ` ${email.toLowerCase()}`, company: 'Before' }, '2021-01-01T00:00:00Z')
  const id = await store(given)
  await decide([{ id: earlier, status: 'declined', version: 0 }])
  const { application, history, delivery, others } = await openDetails(id)
  expect(application).toEqual({
    ...given,
    id,
    created_at: expect.any(String) as string,
    status: 'new',
    version: 0,
    withdrawn_at: null,
    same_email: true,
    applied_before: false,
    added_by: null,
    ...noInvitation,
  })
  expect(history).toEqual([])
  expect(delivery).toMatchObject({ delivered_at: null, attempts: 0, last_status: null })
  expect(others).toEqual([
    {
      id: earlier,
      created_at: '2021-01-01T00:00:00+00:00',
      edition: 1,
      company: 'Before',
      status: 'declined',
    },
  ])
  expect((await list({ search: email })).applications.map(({ same_email }) => same_email)).toEqual([
    true,
    true,
  ])
  expect(await desk.client.rpc('desk_application', { application: crypto.randomUUID() })).toMatchObject({
    status: 404,
    error: { code: 'PT404' },
  })
})

test('the history keeps the emails of its authors after their accounts are removed', async () => {
  const id = await store()
  const other = await desk.server.signedIn()
  await decide([{ id, status: 'accepted', version: 0 }], other.client)
  await desk.server.database.owner`delete from auth.users where email = ${other.email}`
  expect((await openDetails(id)).history).toMatchObject([{ author: other.email, kind: 'status' }])
})

// break: other-email-erased
test("erasing requires the applicant's email, removes everything about them, and is recorded", async () => {
  const { owner } = desk.server.database
  const email = `Erased.${aWord()}@example.com`
  const [first, second, stranger] = [
    await store({ email }),
    await store({ email: ` ${email.toLowerCase()} ` }),
    await store(),
  ]
  await decide([{ id: first, status: 'accepted', version: 0 }])
  await askDesk(desk.client, 'note', {
    act: crypto.randomUUID(),
    application: first,
    note: `A note of ${email}`,
  })
  for (const wrong of ['', 'another@example.com', `${email}m`, null]) {
    const response = await desk.client.rpc('desk_erase', { applications: [first, second], email: wrong })
    expect(response).toMatchObject({ status: 400, error: { code: '22023' } })
  }
  // With somebody else's application among them, nothing is erased.
  expect(await desk.client.rpc('desk_erase', { applications: [first, stranger], email })).toMatchObject({
    status: 400,
  })
  const remaining = async () => {
    const tables = ['private.history', 'private.statuses', 'private.deliveries']
    const counts = tables.map(async (name) => {
      const [row] = await owner.unsafe(
        `select count(*)::int as n from ${name} where ${name === tables[2] ? 'coalesce(application_id, id)' : 'application_id'} in ($1, $2)`,
        [first, second],
      )
      return row?.['n'] as number
    })
    return Promise.all(counts)
  }
  expect(await remaining()).toEqual([2, 1, 2])

  const act = crypto.randomUUID()
  const erasing = { act, applications: [first, second], email: ` ${email.toUpperCase()}` }
  expect(await askDesk(desk.client, 'erase', erasing)).toEqual({ erased: 2 })
  // A retry after a lost response returns the first result.
  expect(await askDesk(desk.client, 'erase', erasing)).toEqual({ erased: 2 })
  expect(await remaining()).toEqual([0, 0, 0])
  expect(await owner`select from public.retreat_applications where email ilike ${`%${email}%`}`).toHaveLength(
    0,
  )
  expect(await askDesk(desk.client, 'erase', { applications: [first, second], email })).toEqual({ erased: 0 })
  expect(await desk.client.rpc('desk_application', { application: first })).toMatchObject({ status: 404 })
  expect((await openDetails(stranger)).application).toMatchObject({ id: stranger })
  const erasures =
    await owner`select author, application_id, detail from private.history where kind = 'erased' and author = ${desk.me}`
  expect(erasures).toEqual([{ author: desk.me, application_id: null, detail: { applications: 2 } }])
  expect((await askDesk<DeskHistory>(desk.client, 'history')).happenings[0]).toMatchObject({
    author: desk.me,
    kind: 'erased',
  })
  // No entry of the history names the person.
  const [named] =
    await owner`select count(*)::int as n from private.history where detail::text ilike ${`%${email}%`}`
  expect(named).toEqual({ n: 0 })
})

test('pages of the history have fifty events each, the newest first, without duplicates', async () => {
  const { owner } = desk.server.database
  await owner`
    insert into private.history (author, kind, detail)
    select ${desk.me}, 'blind', jsonb_build_object('on', n % 2 = 0) from generate_series(1, 120) as n`
  const read: DeskHistory[] = []
  let after: DeskHistory['next'] = null
  do {
    const page: DeskHistory = await askDesk<DeskHistory>(desk.client, 'history', { after })
    read.push(page)
    after = page.next
  } while (after !== null)
  expect(read.slice(0, 2).map(({ happenings }) => happenings.length)).toEqual([50, 50])
  const stored = await owner<{ id: number }[]>`
    select id::int from private.history where application_id is null order by id desc`
  expect(read.flatMap(({ happenings }) => happenings.map(({ id }) => id))).toEqual(stored.map(({ id }) => id))
})
