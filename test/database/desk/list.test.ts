import { expect, test } from 'vitest'
import { anApplication } from '../../support/form.ts'
import { askDesk, idsOf, type Page, type Overview } from '../../support/ask-desk.ts'
import { valuesOf, withoutTriggers } from '../../support/sql.ts'
import {
  applicationDesk,
  aWord,
  withoutLimit,
  noInvitation,
} from '../../support/application-server-for-test-file.ts'

const desk = applicationDesk()
const { store, list, decide, readPages } = desk

test('the list has the newest application first, with only the fields that a line shows', async () => {
  const word = aWord()
  const reason = `\r\n  First ${word} line \r\nsecond line`
  const old = await store({ reason: `${word} ${'long '.repeat(100)}`, team_size: '' }, '2020-01-01T00:00:00Z')
  const given = anApplication({ reason, team_size: '10+', custom_solution: 'a cabin' })
  const young = await store(given)
  const { applications, next } = await list({ search: word })
  expect(next).toBeNull()
  expect(applications[0]).toEqual({
    id: young,
    created_at: expect.any(String) as string,
    first_name: given.first_name,
    last_name: given.last_name,
    email: given.email,
    company: given.company,
    team_size: '10+',
    paid_solution: 'travel',
    reason: `First ${word} line …`,
    status: 'new',
    version: 0,
    withdrawn_at: null,
    same_email: false,
    applied_before: false,
    ...noInvitation,
  })
  expect(applications[1]).toMatchObject({ id: old, created_at: '2020-01-01T00:00:00+00:00' })
  expect(applications[1]?.reason).toMatch(/ …$/)
  expect(applications[1]?.reason.length).toBeLessThanOrEqual(202)
})

test('status, team size, paid solution and dates filter the list, alone and together', async () => {
  const search = aWord()
  const day = (date: string) => `${date}T12:00:00Z`
  const [first, second, third, fourth] = [
    await store({ reason: search, team_size: '1-3', paid_solution: 'not' }, day('2019-03-01')),
    await store({ reason: search, team_size: '1-3', paid_solution: 'work' }, day('2019-03-02')),
    await store({ reason: search, team_size: '', paid_solution: '' }, day('2019-03-03')),
    await store({ reason: search, team_size: '10+', paid_solution: 'not' }, day('2019-03-04')),
  ]
  await decide([
    { id: second, status: 'accepted', version: 0 },
    { id: third, status: 'declined', version: 0 },
  ])
  await decide([{ id: third, status: 'new', version: 1 }])
  const dates = { since: '2019-03-01T00:00:00Z', until: '2019-03-05T00:00:00Z' }
  // A search, dates, and both together run different queries.
  for (const base of [{ search }, dates, { search, ...dates }]) {
    const finds = async (filter: object) => idsOf(await list({ ...base, ...filter }))
    expect(await finds({})).toEqual([fourth, third, second, first])
    expect(await finds({ status: 'all' })).toEqual([fourth, third, second, first])
    expect(await finds({ status: 'new' })).toEqual([fourth, third, first])
    expect(await finds({ status: 'accepted' })).toEqual([second])
    expect(await finds({ status: 'declined' })).toEqual([])
    expect(await finds({ team_size: '1-3' })).toEqual([second, first])
    expect(await finds({ team_size: '' })).toEqual([third])
    expect(await finds({ paid_solution: 'not' })).toEqual([fourth, first])
    expect(await finds({ paid_solution: 'not', team_size: '1-3' })).toEqual([first])
    expect(await finds({ status: 'new', paid_solution: 'not', team_size: '10+' })).toEqual([fourth])
    expect(await finds({ team_size: 'none such' })).toEqual([])
    // `since` is inclusive, and `until` is exclusive.
    expect(await finds({ since: day('2019-03-02') })).toEqual([fourth, third, second])
    expect(await finds({ until: day('2019-03-03') })).toEqual([second, first])
    expect(await finds({ since: day('2019-03-02'), until: day('2019-03-03') })).toEqual([second])
    expect(await finds({ since: '2019-03-02T14:00:00+02:00', status: 'accepted' })).toEqual([second])
    expect(await finds({ until: day('2019-03-02'), status: 'accepted' })).toEqual([])
  }
})

test.each([
  [{ status: 'maybe' }, '22023'],
  [{ since: 'yesterday morning' }, '22007'],
  [{ until: '2019-02-30' }, '22008'],
])('an invalid filter, %j, is refused', async (filter, code) => {
  for (const name of ['desk_list', 'desk_overview', 'desk_export']) {
    expect(await desk.client.rpc(name, { filter })).toMatchObject({ status: 400, error: { code } })
  }
})

test.each([
  ['of all', {}],
  ['of New applications', { status: 'new' }],
  ['of one status', { status: 'shortlisted' }],
  ['of a search', { search: 'paged' }],
  ['of a search in one status', { search: 'paged', status: 'shortlisted' }],
  ['of a team size', { team_size: '3-10' }],
])(
  'pages %s have no gap and no duplicate, even with equal times and while applications arrive',
  async (title, filter) => {
    // Each case has a separate year.
    const year = 1990 + title.length
    const at = (second: number) => `${year}-06-01T00:00:${String(second).padStart(2, '0')}.123456Z`
    const rows = Array.from({ length: 130 }, (_, index) => ({
      ...anApplication({ reason: 'paged' }),
      created_at: at(index % 3),
    }))
    const { owner } = desk.server.database
    const stored = await owner<{ id: string; at: string }[]>`
    insert into public.retreat_applications ${valuesOf(rows)} returning id, created_at::text as at`
    if ('status' in filter && filter.status === 'shortlisted') {
      await decide(stored.map(({ id }) => ({ id, status: 'shortlisted', version: 0 })))
    }
    const expected = stored
      .toSorted((a, b) => (a.at === b.at ? (a.id < b.id ? 1 : -1) : a.at < b.at ? 1 : -1))
      .map(({ id }) => id)
    const dates = { since: `${year}-01-01T00:00:00Z`, until: `${year + 1}-01-01T00:00:00Z` }
    const read = await readPages('list', { ...filter, ...dates }, () => store({ reason: 'paged' }, at(50)))
    expect(read.map(({ applications }) => applications.length)).toEqual([50, 50, 30])
    expect(read.flatMap(idsOf)).toEqual(expected)
  },
)

test('a page that ends with the last application has no next page', async () => {
  const search = aWord()
  for (let index = 0; index < 50; index += 1) await store({ reason: search })
  expect(await readPages('list', { search })).toHaveLength(1)
  await store({ reason: search })
  expect((await readPages('list', { search })).map(({ applications }) => applications.length)).toEqual([
    50, 1,
  ])
})

test('an export has complete applications with their status, however large they are', async () => {
  const word = aWord()
  const given = anApplication({ reason: `${word}\r\n=1+1`, custom_solution: '"quoted"' })
  const id = await store(given)
  await decide([{ id, status: 'waitlisted', version: 0 }])
  const { applications } = await askDesk<Page>(desk.client, 'export', { filter: { search: word } })
  expect(applications).toEqual([
    {
      ...given,
      id,
      created_at: expect.any(String) as string,
      status: 'waitlisted',
      version: 1,
      withdrawn_at: null,
      same_email: false,
      applied_before: false,
      ...noInvitation,
      decided_by: desk.me,
      decided_at: expect.any(String) as string,
      marks: [],
      added_by: null,
      questions: [],
      notes: [],
      letters: [],
    },
  ])

  const { owner } = desk.server.database
  await withoutLimit(
    owner,
    (transaction) => transaction`
    insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
    select '1970-01-01', 'a', 'b', 'c' || n, 'd', 'e', 'f', repeat('x', 1000000), true from generate_series(1, 17) as n`,
  )
  const dates = { since: '1970-01-01T00:00:00Z', until: '1970-01-02T00:00:00Z' }
  const read = await readPages('export', dates)
  expect(read.map(({ applications: page }) => page.length)).toEqual([16, 1])
  expect(new Set(read.flatMap(idsOf)).size).toBe(17)
})

test('the overview counts applications and RSVPs since yesterday began in the time zone, whatever the filter', async () => {
  // In this zone it is about noon, so that no day begins during the test.
  const offset = 12 - new Date().getUTCHours()
  const zone = `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`
  const since = async (args: object = {}) =>
    (await askDesk<Overview>(desk.client, 'overview', { zone, ...args })).since_yesterday
  const { day } = await since()
  const midnight = Date.parse(`${day}T00:00:00Z`) - offset * 3_600_000
  expect(Date.now() - midnight).toBeGreaterThan(35 * 3_600_000)
  expect(Date.now() - midnight).toBeLessThan(38 * 3_600_000)
  const at = (milliseconds: number) => new Date(midnight + milliseconds).toISOString()
  const [before, , junk] = [
    await store({}, at(-1)),
    await store({ team_size: '10+' }, at(0)),
    await store({}, at(1)),
  ]
  await decide([{ id: junk, status: 'aside', version: 0 }])
  const addRsvp = (id: string | undefined, author: string, time: string) => desk.server.database.owner`
    insert into private.history (application_id, author, kind, detail, at)
    values (${id ?? ''}, ${author}, 'answer', '{"answer": "coming"}', ${time})`
  await addRsvp(before, 'applicant', at(-1))
  const count = (one: number, other: number) => ({
    day,
    new: { count: one, more: false },
    replied: { count: other, more: false },
  })
  expect(await since()).toEqual(count(1, 0))
  // Somebody who changed their mind replied once. What an organiser entered is no reply.
  await addRsvp(before, 'applicant', at(0))
  await addRsvp(before, 'applicant', at(1))
  await addRsvp(junk, 'ada@example.org', at(1))
  expect(await since()).toEqual(count(1, 1))
  expect(await since({ filter: { status: 'accepted', team_size: '1-3' } })).toEqual(count(1, 1))
  // A withdrawn application is no longer in the list that the number leads to.
  await desk.server.database.owner`
    insert into private.statuses (application_id, status, version, withdrawn_at, created_at)
    select id, 'new', 0, now(), created_at from public.retreat_applications where team_size = '10+'`
  expect(await since()).toEqual(count(0, 1))
})

test('the overview counts results by status, team size, paid solution, and day in the given time zone', async () => {
  const overview = (args: object = {}) => askDesk<Overview>(desk.client, 'overview', args)
  const none = { count: 0, more: false }
  const exactly = (count: number) => ({ count, more: false })
  const editions = [{ id: 1, name: '', began_at: null, starts_on: null, ends_on: null }]
  const sinceYesterday = { day: expect.any(String) as string, new: none, replied: none }
  expect(await overview()).toEqual({
    editions,
    since_yesterday: sinceYesterday,
    acceptances: { accepted: 0, places: null },
    counts: {
      new: none,
      shortlisted: none,
      accepted: none,
      waitlisted: none,
      declined: none,
      aside: none,
      all: none,
    },
    count: 0,
    more: false,
    days: {},
    team_size: {},
    paid_solution: {},
  })
  const ids = [
    await store({ team_size: '', paid_solution: '', reason: 'forest' }, '2026-03-01T23:30:00Z'),
    await store({ team_size: '1-3', paid_solution: 'not' }, '2026-03-02T00:30:00Z'),
    await store({ team_size: '1-3', paid_solution: 'not' }, '2026-03-02T10:00:00Z'),
    await store({ team_size: '10+', paid_solution: 'work', reason: 'forest' }, '2026-03-03T10:00:00Z'),
  ]
  await decide(
    [
      { id: ids[0], status: 'accepted', version: 0 },
      { id: ids[1], status: 'declined', version: 0 },
    ],
    desk.client,
  )
  await decide([{ id: ids[1], status: 'new', version: 1 }], desk.client)
  const counts = {
    new: exactly(3),
    shortlisted: none,
    accepted: exactly(1),
    waitlisted: none,
    declined: none,
    aside: none,
    all: exactly(4),
  }
  expect(await overview()).toEqual({
    editions,
    since_yesterday: sinceYesterday,
    acceptances: { accepted: 1, places: null },
    counts,
    count: 4,
    more: false,
    days: { '2026-03-01': 1, '2026-03-02': 2, '2026-03-03': 1 },
    team_size: { '': 1, '1-3': 2, '10+': 1 },
    paid_solution: { '': 1, not: 2, work: 1 },
  })
  expect((await overview({ zone: 'Europe/Berlin' })).days).toEqual({ '2026-03-02': 3, '2026-03-03': 1 })
  expect((await overview({ zone: 'America/New_York' })).days).toEqual({
    '2026-03-01': 2,
    '2026-03-02': 1,
    '2026-03-03': 1,
  })
  // The count of each tab applies all filters except the status.
  expect(await overview({ filter: { status: 'accepted' } })).toMatchObject({ counts, count: 1 })
  expect(await overview({ filter: { search: 'forest', status: 'new' } })).toMatchObject({
    counts: { ...counts, new: exactly(1), all: exactly(2) },
    count: 1,
    team_size: { '10+': 1 },
  })
  expect(await desk.client.rpc('desk_overview', { zone: 'Nowhere/Else' })).toMatchObject({
    status: 400,
    error: { code: '22023' },
  })

  // Counts stop at a thousand.
  const { owner } = desk.server.database
  const fill = (count: number) =>
    owner`insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
      select '2026-03-03T10:00:00Z', gen_random_uuid(), 'b', 'c', 'd', 'e', 'f', 'g', true from generate_series(1, ${count}) returning id`
  await fill(997)
  expect((await overview()).counts).toMatchObject({
    new: exactly(1000),
    accepted: exactly(1),
    all: { count: 1000, more: true },
  })
  await fill(1)
  expect(await overview()).toMatchObject({
    counts: { new: { count: 1000, more: true } },
    count: 1000,
    more: true,
  })
})

test('a list reads only the rows that it needs, however many applications have a decision', async () => {
  const { owner } = desk.server.database
  await withoutTriggers(owner, async (transaction) => {
    await transaction`
      insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
      select '2026-03-03'::timestamptz + n * interval '1 second', n, 'b', 'c', 'd', 'e', 'f', 'g', true
      from generate_series(1, 3000) as n`
    await transaction`
      insert into private.statuses (application_id, created_at, edition, status, version)
      select id, created_at, 1, (array['accepted', 'declined'])[first_name::integer % 3], 1
      from public.retreat_applications where first_name::integer % 3 > 0`
    await transaction`
      insert into private.invitations (application_id, is_accepted)
      select application_id, true from private.statuses where status = 'accepted'`
  })
  await owner`analyze`
  /** The numbers of rows that a call reads from the three tables, by scanning a table and by an index. */
  const rowsReadFor = (filter: object) =>
    owner.begin(async (transaction) => {
      const read = async () => {
        // The counters may include earlier reads of this connection, so the difference is taken.
        const [row] = await transaction<[{ scanned: number; fetched: number }]>`
          select sum(seq_tup_read)::integer as scanned, sum(idx_tup_fetch)::integer as fetched
          from pg_stat_xact_user_tables where relname in ('retreat_applications', 'statuses', 'invitations')`
        return row
      }
      const before = await read()
      await transaction`select private.find(${JSON.stringify(filter)}::text::jsonb, null, 100, 5000, false, null)`
      const after = await read()
      return { scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched }
    })
  for (const order of ['newest', 'oldest']) {
    for (const filter of [
      {},
      { status: 'new' },
      { status: 'accepted' },
      { team_size: '' },
      { answer: 'not told' },
    ]) {
      const { scanned, fetched } = await rowsReadFor({ ...filter, order })
      // To find 100 matches, a call reads a few hundred candidates, and a joined row for each.
      expect({ filter, order, scanned, isFew: fetched < 1000 }).toEqual({
        filter,
        order,
        scanned: 0,
        isFew: true,
      })
    }
  }
})
