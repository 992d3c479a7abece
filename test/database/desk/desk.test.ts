import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, expect, test } from 'vitest'

import { removeEditions } from '../../support/editions.ts'
import { anApplication } from '../../support/form.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in.ts'
import type { Application } from '../../../src/application/application.ts'
import type { DeskFunction } from '../../../src/client/desk/calls.ts'
import type { Sql } from '../../../src/server/database/sql.ts'
import { valuesOf } from '../../support/sql.ts'

let server: SignInServer
let client: SupabaseClient
let me: string

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
})

interface Shown extends Application {
  id: string
  created_at: string
  status: string
  version: number
  same_email: boolean
}
interface Page {
  applications: Shown[]
  next: { created_at: string; id: string } | null
}
interface Count {
  count: number
  more: boolean
}
interface Overview {
  counts: Record<string, Count>
  count: number
  more: boolean
  days: Record<string, number>
  team_size: Record<string, number>
  paid_solution: Record<string, number>
}
interface HistoryEntry {
  act: string
  at: string
  author: string
  kind: string
  detail: Record<string, unknown>
}
interface Details {
  application: Shown
  history: HistoryEntry[]
  delivery: Record<string, unknown> | null
  others: { id: string; created_at: string; company: string; status: string }[]
}
interface Outcome {
  id: string
  outcome: 'kept' | 'stale' | 'gone'
  status?: string
  version?: number
  author?: string | null
}
interface DeskHistory {
  happenings: (HistoryEntry & { id: number })[]
  next: { id: number } | null
}

/** Calls a function of the desk as an organiser. Returns its response. */
async function ask<Result>(caller: SupabaseClient, name: string, args: object = {}): Promise<Result> {
  const { data, error } = await caller.rpc(`desk_${name}`, args)
  if (error) throw error
  return data as Result
}

let words = 0
/** Makes a word of letters that no other application of this run has. */
function aWord() {
  words += 1
  return `word${Array.from(String(words), (digit) => 'abcdefghij'[Number(digit)]).join('')}x`
}

/** Stores an application as the database's owner, optionally with its time. Returns its id. */
async function store(changes: Partial<Application> = {}, at?: string, on = server) {
  const answers = { ...anApplication(changes), ...(at === undefined ? {} : { created_at: at }) }
  const [row] = await on.database.owner<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(answers)} returning id`
  return row?.id ?? ''
}

/** Inserts form answers that may be too long, as earlier versions without limits did. */
function withoutLimit(sql: Sql, insert: (transaction: Sql) => Promise<unknown>) {
  return sql.begin(async (transaction) => {
    await transaction`alter table public.retreat_applications disable trigger refuse_too_long`
    await insert(transaction)
    await transaction`alter table public.retreat_applications enable trigger refuse_too_long`
  })
}

const list = (filter: object, caller = client) => ask<Page>(caller, 'list', { filter })
const idsOf = ({ applications }: Page) => applications.map(({ id }) => id)
const openDetails = (application: string, caller = client) =>
  ask<Details>(caller, 'application', { application })
const decide = (decisions: object[], caller = client, act: string = crypto.randomUUID()) =>
  ask<Outcome[]>(caller, 'decide', { act, decisions })
const apply = (application: Application, on = server) =>
  on.client().from('retreat_applications').insert(application)

/** Reads all pages in order, and calls `between` after each. */
async function readPages(
  name: 'list' | 'export',
  filter: object,
  between: () => Promise<unknown> = async () => {},
) {
  const all: Page[] = []
  let after: Page['next'] = null
  do {
    const page: Page = await ask<Page>(client, name, { filter, after })
    all.push(page)
    after = page.next
    await between()
  } while (after !== null)
  return all
}

const noInvitation = { answer_state: null, answer: null, answered_at: null, kept_until: null }

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
    same_email: false,
    applied_before: false,
    ...noInvitation,
  })
  expect(applications[1]).toMatchObject({ id: old, created_at: '2020-01-01T00:00:00+00:00' })
  expect(applications[1]?.reason).toMatch(/ …$/)
  expect(applications[1]?.reason.length).toBeLessThanOrEqual(202)
})

test('the search finds every word of the fields that it covers, regardless of accents and case', async () => {
  const word = aWord()
  const id = await store({
    first_name: 'Émile',
    last_name: `O'Brien-Łukasz ${word}`,
    email: `Zoë.Müller_99+retreat@Mail.Mountain-Hut.example`,
    linkedin: 'https://www.linkedin.com/in/emile-the-climber/',
    company: 'Ångström & Søns (GmbH)',
    custom_solution: 'a CABIN in Norrköping',
    reason:
      'We’re “offline”—every Sunday🌲together… ½ day; ＦＵＬＬＷＩＤＴＨ ﬁnding 日本語のテキスト\u00a0quietly <silence>',
    phone: '+1 555 0100',
  })
  const finds = async (search: string) => idsOf(await list({ search: `${word} ${search}` }))
  for (const search of [
    'emile',
    'ÉMILE',
    'e\u0301mile',
    'brien',
    "O'BRIEN",
    'o’brien',
    'Łukasz',
    'łukasz',
    'zoe.muller_99+retreat@mail.mountain-hut.example',
    'mountain-hut.example',
    '@mail.mountain-hut.example',
    'mountain',
    'retreat',
    'linkedin.com/in/emile-the-climber',
    'climber',
    'angstrom gmbh',
    'ångström',
    'cabin norrkoping',
    'offline',
    '“offline”',
    'every',
    'sunday',
    'together',
    'sunday🌲',
    '🌲',
    'day',
    'fullwidth',
    'finding',
    'FINDING',
    '日本語のテキスト',
    '日本語',
    'quietly',
    'silence',
    'we’re',
    "we're",
  ]) {
    expect([search, await finds(search)]).toEqual([search, [id]])
  }
  for (const search of ['emil0', 'emile brienx', '5550100', 'xmountain', 'ountain', 'emile nobody']) {
    expect([search, await finds(search)]).toEqual([search, []])
  }
  // The words may be in any field and any order.
  expect(idsOf(await list({ search: `climber ${word} emile` }))).toEqual([id])
})

test('the last word of a search also matches the beginnings of words once it has three letters; other words match exactly', async () => {
  const word = aWord()
  const id = await store({ reason: `${word} Wandering Élan` })
  const finds = async (search: string) => idsOf(await list({ search }))
  expect(await finds(`${word} wan`)).toEqual([id])
  expect(await finds(`${word} WANDER `)).toEqual([id])
  expect(await finds(`${word} éla`)).toEqual([id])
  expect(await finds(`${word} wa`)).toEqual([])
  expect(await finds(`wander ${word}`)).toEqual([])
  expect(await finds(word.slice(0, -1))).toEqual([id])
})

/** The first characters of a text. Unlike `slice`, it does not split a character. */
const beginning = (text: string, length: number) => Array.from(text).slice(0, length).join('')

const oddTexts = [
  ['characters that each fold into eighteen letters', 'ﷺ'.repeat(400)],
  ['lone combining marks', '\u0301\u0302 \u0300'.repeat(50)],
  ['emoji', '👩🏽‍🚀🏳️‍🌈🇨🇭'.repeat(20)],
  ['quotes and backslashes', `' '' " \\ \\' \\\\ ''' \\"`],
  ['operators', `!a & b | (c <-> d) :* 'e':A -f`],
  ['punctuation', '%_?*[]{}^$|<>&;`~#='],
  ['only spaces', ' \t\r\n\u00a0\u3000'],
  ['zero-width and direction marks', '\u200b\u200d\u202e\ufeff\u2066a'],
  ['a word of 4,800 letters', 'ab'.repeat(2400)],
  ['squared words', '㌖㍿㌫'.repeat(70)],
  ['the last code points', '\ufffe\uffff\u{10ffff}\u{e0001}'],
  ['a tag and an address', '<a href="https://example.com/?q=1&r=2">&amp; &#x27;</a>'],
] as const

test.each(oddTexts)(
  'text with %s is stored unchanged, and a search for it does not fail',
  async (_what, text) => {
    const word = aWord()
    const application = anApplication({
      first_name: `${text} `,
      last_name: text,
      company: `${text} `,
      linkedin: text,
      custom_solution: text,
      reason: `${word} ${text.repeat(20)}`,
    })
    expect(await apply(application)).toMatchObject({ status: 201, error: null })
    const [line] = (await list({ search: word })).applications
    expect(line).toMatchObject({ first_name: beginning(`${text} `, 200) })
    expect((await openDetails(line?.id ?? '')).application).toMatchObject(application)
    for (const search of [text, `${text} ${word}`, `${word} ${text}`, beginning(text, 199)]) {
      for (const name of ['desk_list', 'desk_overview', 'desk_export']) {
        expect(await client.rpc(name, { filter: { search } })).toMatchObject({ status: 200, error: null })
      }
    }
  },
)

test.each([
  ['of one word', 'a'],
  ['of different words', Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(' ')],
  ['of characters that each fold into eighteen letters', 'ﷺ'],
  ['of signs and marks', '\u0301“ '],
])(
  'a reason of a megabyte %s, stored before there was a limit, is found by its beginning, read and exported',
  async (_what, part) => {
    const word = aWord()
    const long = (bytes: number) => part.repeat(bytes / Buffer.byteLength(part))
    // The longest reason that is accepted now: 100,000 characters, in a request of 256 KiB.
    expect(await apply(anApplication({ reason: long(250_000).slice(0, 100_000) }))).toMatchObject({
      status: 201,
      error: null,
    })
    const application = anApplication({ reason: `${word} ${long(1_000_000)}` })
    await withoutLimit(
      server.database.owner,
      (owner) => owner`
    insert into public.retreat_applications ${valuesOf({ ...application })}`,
    )
    const [line] = (await list({ search: word })).applications
    expect(line?.reason.length).toBeLessThanOrEqual(202)
    expect((await openDetails(line?.id ?? '')).application.reason).toBe(application.reason)
    expect((await ask<Page>(client, 'export', { filter: { search: word } })).applications).toMatchObject([
      { reason: application.reason },
    ])
  },
)

/** Stores rows without running triggers, which would create drafts of letters, for example. */
function withoutTriggers(sql: Sql, insert: (transaction: Sql) => Promise<unknown>) {
  return sql.begin(async (transaction) => {
    await transaction`set local session_replication_role = replica`
    await insert(transaction)
  })
}

/** The texts that are the most costly to search in, relative to their length, each after a description. */
const costlyTexts = [
  ['characters that each fold into eighteen letters', 'ﷺ'.repeat(3_000)],
  ['words of one letter', 'a b c d e f g h i j '.repeat(80)],
] as const

test('a long form answer has a stored search vector, however well it compresses; a short one has none', async () => {
  const countStoredVectors = async (reason: string) => {
    const id = await store({ reason })
    return (await server.database.owner`select from private.search_vectors where application_id = ${id}`)
      .length
  }
  expect(await countStoredVectors('so '.repeat(5_000))).toBe(1)
  // A character of three bytes counts as seven bytes.
  expect(await countStoredVectors('山'.repeat(290))).toBe(1)
  expect(await countStoredVectors('so '.repeat(500))).toBe(0)
})

// break: search-folds-without-end
test('after two hundred applications with costly texts, a search or a count folds less than ten times as much text as before', async () => {
  const newServer = await startSignIn()
  const { client: caller } = await newServer.signedIn()
  const { owner } = newServer.database
  const storeAll = (rows: Application[]) =>
    owner`insert into public.retreat_applications ${valuesOf(rows.map((row) => ({ ...row })))} returning id`
  const fortyWords = (index: number) =>
    Array.from({ length: 40 }, (_, position) => `w${(index * position) % 997}`).join(' ')
  for (let batch = 0; batch < 2; batch += 1) {
    await storeAll(
      Array.from({ length: 550 }, (_, index) => anApplication({ reason: `silence ${fortyWords(index)}` })),
    )
  }
  const filter = { search: 'silence' }
  // Replaces `folded`, which removes accents and case, with a function that also counts the bytes that it gets.
  await owner.unsafe(`
    do $$ begin
      execute replace(pg_get_functiondef('private.folded(text)'::regprocedure), 'private.folded', 'private.fold');
    end $$;
    create or replace function private.folded(said text) returns text language plpgsql immutable parallel safe as $$
    begin
      perform set_config('test.octets', (
        coalesce(nullif(current_setting('test.octets', true), ''), '0')::integer + octet_length(said))::text, true);
      return private.fold(said);
    end $$`)
  /** The bytes that a call folds and splits into words: the slow part of a search. */
  const octetsOf = async (name: string) => {
    const { data } = (await caller.auth.getClaims()) ?? {}
    return owner.begin(async (transaction) => {
      await transaction`
        select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true), set_config('test.octets', '0', true)`
      await transaction.unsafe(`select public.desk_${name}(filter => $1::text::jsonb)`, [
        JSON.stringify(filter),
      ])
      const [row] = await transaction<{ octets: string }[]>`select current_setting('test.octets') as octets`
      return Number(row?.octets)
    })
  }
  const before = { list: await octetsOf('list'), overview: await octetsOf('overview') }
  expect(Math.min(before.list, before.overview)).toBeGreaterThan(0)
  for (const [title, reason] of costlyTexts) {
    await storeAll(Array.from({ length: 200 }, () => anApplication({ reason })))
    // In an earlier version, the ratio was thirty.
    const ratio = Math.max(
      (await octetsOf('list')) / before.list,
      (await octetsOf('overview')) / before.overview,
    )
    expect({ title, isBounded: ratio < 10, ratio }).toMatchObject({ title, isBounded: true })
  }

  // Words at the end of the searched text are found, also by an organiser who reads blind.
  const long = (end: string) => `${'a b c d e '.repeat(990).slice(0, 9900)} ${end}`
  const matching = (
    await storeAll(Array.from({ length: 20 }, () => anApplication({ reason: long('silence') })))
  ).map((row) => String(row['id']))
  await storeAll(
    Array.from({ length: 20 }, () => anApplication({ last_name: 'silence', reason: long('noise') })),
  )
  const findAll = async (reader: SupabaseClient) => {
    const found: string[] = []
    let after: Page['next'] = null
    do {
      const page: Page = await ask<Page>(reader, 'export', { filter, after })
      found.push(...idsOf(page))
      after = page.next
    } while (after !== null)
    return found
  }
  expect(await findAll(caller)).toHaveLength(1100 + 20 + 20)
  await ask(caller, 'set_blind', { blind: true })
  const found = await findAll(caller)
  expect(found).toHaveLength(1100 + 20)
  expect(found).toEqual(expect.arrayContaining(matching))
  // Once a text is changed in the database, its former words are not found.
  await owner`update public.retreat_applications set reason = ${long('noise')} where id = ${matching[0] ?? ''}`
  expect(await findAll(caller)).toHaveLength(1100 + 19)
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
    expect(await client.rpc(name, { filter })).toMatchObject({ status: 400, error: { code } })
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
    const { owner } = server.database
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

test('a search with too many candidates for one call continues on further pages until it has found everything', async () => {
  const word = aWord()
  const { owner } = server.database
  const rows = Array.from({ length: 1100 }, () => ({
    ...anApplication({ reason: word }),
    created_at: '1980-01-01T00:00:00Z',
  }))
  for (let from = 0; from < rows.length; from += 550) {
    await owner`insert into public.retreat_applications ${valuesOf(rows.slice(from, from + 550))}`
  }
  const found = (await readPages('export', { search: word })).flatMap(idsOf)
  expect(found).toHaveLength(1100)
  expect(new Set(found).size).toBe(1100)
  const { counts } = await ask<Overview>(client, 'overview', { filter: { search: word } })
  expect(counts['all']?.more).toBe(true)
})

test('an export has complete applications with their status, however large they are', async () => {
  const word = aWord()
  const given = anApplication({ reason: `${word}\r\n=1+1`, custom_solution: '"quoted"' })
  const id = await store(given)
  await decide([{ id, status: 'waitlisted', version: 0 }])
  const { applications } = await ask<Page>(client, 'export', { filter: { search: word } })
  expect(applications).toEqual([
    {
      ...given,
      id,
      created_at: expect.any(String) as string,
      status: 'waitlisted',
      version: 1,
      same_email: false,
      applied_before: false,
      ...noInvitation,
      decided_by: me,
      decided_at: expect.any(String) as string,
      marks: [],
      questions: [],
      notes: [],
      letters: [],
    },
  ])

  const { owner } = server.database
  await withoutLimit(
    owner,
    (transaction) => transaction`
    insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
    select '1970-01-01', 'a', 'b', 'c' || n, 'd', 'e', 'f', repeat('x', 1000000), true from generate_series(1, 40) as n`,
  )
  const dates = { since: '1970-01-01T00:00:00Z', until: '1970-01-02T00:00:00Z' }
  const read = await readPages('export', dates)
  expect(read.map(({ applications: page }) => page.length)).toEqual([16, 16, 8])
  expect(new Set(read.flatMap(idsOf)).size).toBe(40)
  await owner`delete from public.retreat_applications where created_at = '1970-01-01'`
})

test('the overview counts results by status, team size, paid solution, and day in the given time zone', async () => {
  const newServer = await startSignIn()
  const { client: caller } = await newServer.signedIn()
  const overview = (args: object = {}) => ask<Overview>(caller, 'overview', args)
  const none = { count: 0, more: false }
  const exactly = (count: number) => ({ count, more: false })
  const editions = [{ id: 1, name: '', began_at: null, starts_on: null, ends_on: null }]
  expect(await overview()).toEqual({
    editions,
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
    await store({ team_size: '', paid_solution: '', reason: 'forest' }, '2026-03-01T23:30:00Z', newServer),
    await store({ team_size: '1-3', paid_solution: 'not' }, '2026-03-02T00:30:00Z', newServer),
    await store({ team_size: '1-3', paid_solution: 'not' }, '2026-03-02T10:00:00Z', newServer),
    await store(
      { team_size: '10+', paid_solution: 'work', reason: 'forest' },
      '2026-03-03T10:00:00Z',
      newServer,
    ),
  ]
  await decide(
    [
      { id: ids[0], status: 'accepted', version: 0 },
      { id: ids[1], status: 'declined', version: 0 },
    ],
    caller,
  )
  await decide([{ id: ids[1], status: 'new', version: 1 }], caller)
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
  expect(await caller.rpc('desk_overview', { zone: 'Nowhere/Else' })).toMatchObject({
    status: 400,
    error: { code: '22023' },
  })

  // Counts stop at a thousand.
  const { owner } = newServer.database
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

test('with over 20,000 decisions, only the newest applications are counted as New, and the count says that there may be more', async () => {
  const newServer = await startSignIn()
  const { client: caller } = await newServer.signedIn()
  const { owner } = newServer.database
  await withoutTriggers(
    owner,
    (transaction) => transaction`
    insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
    select '2026-03-03'::timestamptz + n * interval '1 second', n, 'b', 'c', 'd', 'e', 'f', 'g', true
    from generate_series(1, 20301) as n`,
  )
  const decideTheOldest = (count: number) =>
    withoutTriggers(
      owner,
      (transaction) => transaction`
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, 'declined', 1 from public.retreat_applications where first_name::integer <= ${count}
    on conflict do nothing`,
    )
  const counts = async () => (await ask<Overview>(caller, 'overview', { filter: {} })).counts
  const many = { count: 1000, more: true }
  await decideTheOldest(20_000)
  expect(await counts()).toMatchObject({ new: { count: 301, more: false }, declined: many, all: many })
  await decideTheOldest(20_101)
  expect(await counts()).toMatchObject({ new: { count: 200, more: true }, declined: many, all: many })
  await decideTheOldest(20_301)
  expect(await counts()).toMatchObject({ new: { count: 0, more: true }, declined: many, all: many })
})

test('a list reads only the rows that it needs, however many applications have a decision', async () => {
  const { owner } = (await startSignIn()).database
  await withoutTriggers(owner, async (transaction) => {
    await transaction`
      insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
      select '2026-03-03'::timestamptz + n * interval '1 second', n, 'b', 'c', 'd', 'e', 'f', 'g', true
      from generate_series(1, 6000) as n`
    await transaction`
      insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, (array['accepted', 'declined'])[first_name::integer % 3], 1
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
      ask(other.client, 'erase', { applications: ids.toSorted().toReversed(), email }),
    ])
    expect(erased).toEqual({ erased: 40 })
    expect(new Set(outcomes.map(({ outcome }) => outcome)).size).toBe(1)
    expect(
      await server.database.owner`select from private.statuses where application_id = any(${ids})`,
    ).toHaveLength(0)
  }
})

test('a note is added once, replaces no other note, and does not change the status', async () => {
  const id = await store()
  const other = await server.signedIn()
  const act = crypto.randomUUID()
  const note = (text: string | null, actId: string = crypto.randomUUID(), caller = client) =>
    ask<HistoryEntry[]>(caller, 'note', { act: actId, application: id, note: text })
  const text = '  Met her in Oslo: "quiet" \\ 🌲\r\n\nsecond line '
  const first = await note(text, act)
  expect(first).toEqual([
    { act, at: expect.any(String) as string, author: me, kind: 'note', detail: { note: text } },
  ])
  expect(await Promise.all([note(text, act), note(text, act)])).toEqual([first, first])
  await decide([{ id, status: 'accepted', version: 0 }])
  expect(await note('I agree.', undefined, other.client)).toMatchObject([
    { author: me, detail: { note: text } },
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
    const response = await client.rpc('desk_note', { act: usedAct, application: id, note: another })
    expect(response).toMatchObject({ status: 409, error: { code: 'PT409' } })
  }
  for (const wrong of ['', ' \r\n\t', null, 'x'.repeat(10_001)]) {
    const response = await client.rpc('desk_note', { act: crypto.randomUUID(), application: id, note: wrong })
    expect(response).toMatchObject({ status: 400, error: { code: '22023' } })
  }
  expect(await note('🌲'.repeat(10_000))).toHaveLength(5)
  expect(
    await client.rpc('desk_note', { act: crypto.randomUUID(), application: crypto.randomUUID(), note: 'x' }),
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
    same_email: true,
    applied_before: false,
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
  expect(await client.rpc('desk_application', { application: crypto.randomUUID() })).toMatchObject({
    status: 404,
    error: { code: 'PT404' },
  })
})

test('the history keeps the emails of its authors after their accounts are removed', async () => {
  const id = await store()
  const other = await server.signedIn()
  await decide([{ id, status: 'accepted', version: 0 }], other.client)
  await server.database.owner`delete from auth.users where email = ${other.email}`
  expect((await openDetails(id)).history).toMatchObject([{ author: other.email, kind: 'status' }])
})

// break: other-email-erased
test("erasing requires the applicant's email, removes everything about them, and is recorded", async () => {
  const { owner } = server.database
  const email = `Erased.${aWord()}@example.com`
  const [first, second, stranger] = [
    await store({ email }),
    await store({ email: ` ${email.toLowerCase()} ` }),
    await store(),
  ]
  await decide([{ id: first, status: 'accepted', version: 0 }])
  await ask(client, 'note', { act: crypto.randomUUID(), application: first, note: `A note of ${email}` })
  for (const wrong of ['', 'another@example.com', `${email}m`, null]) {
    const response = await client.rpc('desk_erase', { applications: [first, second], email: wrong })
    expect(response).toMatchObject({ status: 400, error: { code: '22023' } })
  }
  // With somebody else's application among them, nothing is erased.
  expect(await client.rpc('desk_erase', { applications: [first, stranger], email })).toMatchObject({
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
  expect(await ask(client, 'erase', erasing)).toEqual({ erased: 2 })
  // A retry after a lost response returns the first result.
  expect(await ask(client, 'erase', erasing)).toEqual({ erased: 2 })
  expect(await remaining()).toEqual([0, 0, 0])
  expect(await owner`select from public.retreat_applications where email ilike ${`%${email}%`}`).toHaveLength(
    0,
  )
  expect(await ask(client, 'erase', { applications: [first, second], email })).toEqual({ erased: 0 })
  expect(await client.rpc('desk_application', { application: first })).toMatchObject({ status: 404 })
  expect((await openDetails(stranger)).application).toMatchObject({ id: stranger })
  const erasures =
    await owner`select author, application_id, detail from private.history where kind = 'erased' and author = ${me}`
  expect(erasures).toEqual([{ author: me, application_id: null, detail: { applications: 2 } }])
  expect((await ask<DeskHistory>(client, 'history')).happenings[0]).toMatchObject({
    author: me,
    kind: 'erased',
  })
  // No entry of the history names the person.
  const [named] =
    await owner`select count(*)::int as n from private.history where detail::text ilike ${`%${email}%`}`
  expect(named).toEqual({ n: 0 })
})

/** The fields that blind reading hides, with unique values. */
const hidden = {
  first_name: 'Xenophonia',
  last_name: 'Quillfeather',
  email: 'Zebulon.Pike@obscure-hostel.example',
  phone: '+44 7700 900123',
  linkedin: 'https://linkedin.example/in/zz-quillon',
  company: 'Marmoset Unlimited',
}
const hiddenWords =
  /xenophonia|quillfeather|zebulon|obscure|hostel|7700 900123|zz-quillon|linkedin\.example|marmoset/i

test('no call returns a hidden field to an organiser who reads blind', async () => {
  const { owner } = server.database
  const word = aWord()
  const [id, second] = [
    await store({ ...hidden, reason: `${word} first`, custom_solution: 'a hammock' }),
    await store({ ...hidden, reason: `${word} second` }),
  ]
  const blind = await server.signedIn()
  expect(await ask(blind.client, 'blind')).toMatchObject({ blind: false })
  expect(JSON.stringify(await openDetails(id, blind.client))).toMatch(hiddenWords)
  expect(await ask(blind.client, 'set_blind', { blind: true })).toMatchObject({ blind: true })
  expect(await ask(blind.client, 'blind')).toMatchObject({ blind: true })

  const newId = () => crypto.randomUUID()
  const calls: Record<
    DeskFunction | 'answer_place' | 'answer_questions' | 'door_is_open' | 'place_by_token',
    object[]
  > = {
    desk_me: [{}],
    desk_list: [{}, { filter: { search: word } }, { filter: { status: 'accepted' } }],
    desk_meanwhile: [
      { filter: { search: word }, shown: [] },
      { filter: {}, shown: [{ id, version: 7 }] },
    ],
    desk_overview: [{}, { filter: { search: word } }],
    desk_refresh: [{ filter: { search: word }, zone: 'UTC', shown: [{ id, version: 7 }] }],
    desk_select: [{}, { filter: { search: word } }],
    desk_export: [{ filter: { search: word } }, { filter: { since: '2000-01-01' } }],
    desk_application: [
      { application: id },
      { application: second, filter: { search: word } },
      { application: id, filter: { search: hidden.last_name, order: 'oldest' } },
    ],
    desk_junk: [{}],
    desk_stamp: [{ application: id }],
    desk_blind: [{}],
    desk_mark: [{ act: newId(), application: id, mark: 'yes', why: 'Warm.' }],
    desk_set_blind: [{ blind: true }],
    desk_set_reads_only: [{ reads_only: true }],
    desk_decide: [
      { act: newId(), decisions: [{ id, status: 'accepted', version: 0 }] },
      { act: newId(), decisions: [{ id, status: 'declined', version: 0 }] },
    ],
    desk_note: [{ act: newId(), application: id, note: 'Convincing.' }],
    desk_door: [{}],
    desk_history: [{}],
    desk_set_door: [{ version: 0, closed: false, sentence: '' }],
    desk_erase: [{ applications: [second], email: hidden.email }],
    desk_letters: [{}],
    desk_check_mail: [{}],
    desk_drafts: [{ occasion: 'accepted' }, { occasion: 'declined' }],
    desk_outbox: [{ state: 'waiting' }, { state: 'refused' }],
    desk_letters_of: [{ applications: [id, second] }],
    desk_letter_states: [{ applications: [id, second] }],
    desk_preview: [{ subject: '{{first_name}}', body: '{{company}} {{email}}', application: id }],
    desk_send_test: [{ subject: '{{first_name}}', body: '{{company}} {{email}}', application: id }],
    desk_notices: [{}],
    desk_set_notices: [{ notices: 'each' }, { notices: 'off' }],
    desk_set_template: [{ occasion: 'Travel', version: null, subject: 'By train', body: 'At noon.' }],
    desk_write: [{ applications: [id], occasion: 'Travel' }],
    desk_release: [{ act: newId(), letters: [{ id: newId(), seen: '' }] }],
    desk_withdraw: [{ act: newId() }],
    desk_discard: [{ letters: [newId()] }],
    desk_retry: [{ letters: [newId()] }],
    desk_settle: [{ letters: [newId()] }],
    desk_stop: [{ stopped: true }, { stopped: false }],
    desk_set_letters: [{ version: 0, reply_to: 'desk@example.org' }],
    desk_remove_template: [{ occasion: 'Travel', version: 0 }],
    // The functions without calls here reveal hidden fields on purpose, or are only for organisers who read everything.
    desk_reveal: [],
    desk_all_about: [],
    door_is_open: [{}],
    desk_visits: [{}],
    desk_places: [{}, { zone: 'Europe/Berlin' }],
    desk_set_places: [{ version: 0, places: 40, days: 10 }],
    desk_set_retreat: [{ version: 0, starts_on: '2027-03-12', ends_on: '2027-03-15', venue: 'Bernau' }],
    desk_set_answer: [{ act: newId(), application: id, answer: 'coming' }],
    desk_keep_until: [{ act: newId(), application: id, until: '2100-01-01' }],
    desk_remind: [{}],
    desk_questions: [{}],
    desk_guests: [{}],
    desk_set_questions: [{ version: 0, questions: [], until: null, private_days: null }],
    desk_answer_questions: [{ act: newId(), application: id, answers: {} }],
    desk_erase_answers: [{}],
    desk_retention: [{}],
    desk_set_retention: [{ version: 0, months: null, months_for_guests: null }],
    desk_hold: [{ act: newId(), application: id, reason: '' }],
    desk_erase_due: [{ act: newId() }],
    desk_name_edition: [{ edition: 1, name: 'Autumn' }],
    place_by_token: [{ token: newId() }],
    answer_place: [{ token: newId(), answer: 'coming', act: newId() }],
    answer_questions: [{ token: newId(), answers: {}, act: newId() }],
    desk_edit: [],
    desk_write_to: [],
    desk_readdress: [],
    desk_sent_by_hand: [],
    desk_hand_over: [],
    // The last call: those after it would list the applications of the next retreat.
    desk_begin_edition: [
      {
        act: newId(),
        newest: 1,
        name: 'Spring',
        starts_on: null,
        ends_on: null,
        copied: { templates: true },
      },
    ],
  }
  await owner`update private.postman set seen_at = now()`
  const functions = await owner<{ name: string }[]>`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace
      and has_function_privilege('authenticated', oid, 'execute') order by 1`
  expect(functions.map(({ name }) => name)).toEqual(Object.keys(calls).toSorted())
  for (const [name, all] of Object.entries(calls)) {
    for (const args of all) {
      const { data, error } = await blind.client.rpc(name, args)
      expect({ name, args, error }).toEqual({ name, args, error: null })
      expect(JSON.stringify(data).replaceAll(blind.email, '')).not.toMatch(hiddenWords)
    }
  }
  await removeEditions(owner)
  const { applications } = await list({ search: word }, blind.client)
  expect(applications).toHaveLength(1)
  expect(Object.keys(applications[0] ?? {}).toSorted()).toEqual(
    [
      'id',
      'created_at',
      'team_size',
      'paid_solution',
      'reason',
      'status',
      'version',
      'same_email',
      'applied_before',
      ...Object.keys(noInvitation),
    ].toSorted(),
  )

  // Another organiser still reads everything.
  expect(JSON.stringify(await list({ search: word }))).toMatch(hiddenWords)
})

// break: blind-search-finds-name
test('the search of a blind reader covers only the reason and the custom solution, even for common words', async () => {
  const word = aWord()
  const blind = await server.signedIn()
  await ask(blind.client, 'set_blind', { blind: true })
  const id = await store({ ...hidden, reason: `${word} forest`, custom_solution: 'a hammock' })
  // A word so common that the search reads only the newest applications.
  const common = aWord()
  const { owner } = server.database
  const rows = Array.from({ length: 1100 }, () => ({
    ...anApplication({ last_name: common }),
    created_at: '1975-01-01',
  }))
  for (let from = 0; from < rows.length; from += 550) {
    await owner`insert into public.retreat_applications ${valuesOf(rows.slice(from, from + 550))}`
  }
  await store({ last_name: common })
  const finds = async (search: string, caller = blind.client) => {
    const filter = { search }
    const [listed, exported, overview] = await Promise.all([
      list(filter, caller),
      ask<Page>(caller, 'export', { filter }),
      ask<Overview>(caller, 'overview', { filter }),
    ])
    return [
      listed.applications.length,
      exported.applications.length,
      overview.count,
      overview.counts['all']?.count,
    ]
  }
  for (const search of [word, `${word} hammock`, `forest ${word}`])
    expect(await finds(search)).toEqual([1, 1, 1, 1])
  for (const search of Object.values({ ...hidden, phone: 'marmoset' })) {
    expect([search, await finds(search)]).toEqual([search, [0, 0, 0, 0]])
    expect([search, await finds(`${word} ${search}`)]).toEqual([search, [0, 0, 0, 0]])
    expect([search, await finds(`${word} ${search}`, client)]).toEqual([search, [1, 1, 1, 1]])
  }
  expect(await finds(common)).toEqual([0, 0, 0, 0])
  // Only the newest match is among the applications that the search reads.
  expect(await finds(common, client)).toEqual([1, 1, 1, 1])
  await owner`delete from public.retreat_applications where id = ${id} or created_at = '1975-01-01'`
})

test('revealing shows every field, and the history records each act once, with its author', async () => {
  const id = await store(hidden)
  const [blind, second] = [await server.signedIn(), await server.signedIn()]
  const reveal = (caller: SupabaseClient, act: string = crypto.randomUUID()) =>
    ask<Details>(caller, 'reveal', { act, application: id })
  // Revealing is not recorded for an organiser who reads everything.
  expect((await reveal(client)).history).toEqual([])
  for (const { client: caller } of [blind, second]) await ask(caller, 'set_blind', { blind: true })

  const act = crypto.randomUUID()
  const shown = await reveal(blind.client, act)
  expect(shown.application).toMatchObject(hidden)
  expect(shown.history).toMatchObject([{ act, author: blind.email, kind: 'revealed' }])
  expect((await reveal(blind.client, act)).history).toHaveLength(1)
  expect(JSON.stringify(await openDetails(id, blind.client))).not.toMatch(hiddenWords)
  // An act id that somebody else used, or that was used for something else, reveals nothing.
  const refused = { status: 409, data: null, error: { code: 'PT409' } }
  expect(await second.client.rpc('desk_reveal', { act, application: id })).toMatchObject(refused)
  const noted = crypto.randomUUID()
  await ask(second.client, 'note', { act: noted, application: id, note: 'A note.' })
  expect(await second.client.rpc('desk_reveal', { act: noted, application: id })).toMatchObject(refused)
  expect(await second.client.rpc('desk_reveal', { act: null, application: id })).toMatchObject({
    status: 400,
    data: null,
  })

  // Switching blind reading off is recorded once, too.
  await ask(blind.client, 'set_blind', { blind: false })
  await ask(blind.client, 'set_blind', { blind: false })
  expect(JSON.stringify(await openDetails(id, blind.client))).toMatch(hiddenWords)
  const { happenings } = await ask<DeskHistory>(client, 'history')
  expect(
    happenings.filter(({ author }) => author === blind.email).map(({ kind, detail }) => [kind, detail]),
  ).toEqual([
    ['blind', { on: false }],
    ['blind', { on: true }],
  ])
  expect(await blind.client.rpc('desk_set_blind', { blind: null })).toMatchObject({
    status: 400,
    error: { code: '22023' },
  })
})

test('pages of the history have fifty events each, the newest first, without duplicates', async () => {
  const { owner } = server.database
  await owner`
    insert into private.history (author, kind, detail)
    select ${me}, 'blind', jsonb_build_object('on', n % 2 = 0) from generate_series(1, 120) as n`
  const read: DeskHistory[] = []
  let after: DeskHistory['next'] = null
  do {
    const page: DeskHistory = await ask<DeskHistory>(client, 'history', { after })
    read.push(page)
    after = page.next
  } while (after !== null)
  expect(read.slice(0, 2).map(({ happenings }) => happenings.length)).toEqual([50, 50])
  const stored = await owner<{ id: number }[]>`
    select id::int from private.history where application_id is null order by id desc`
  expect(read.flatMap(({ happenings }) => happenings.map(({ id }) => id))).toEqual(stored.map(({ id }) => id))
})
