import { afterEach, expect, test, vi } from 'vitest'

import { filterOf, filtersFrom, isNarrowed, searchOf, exactWordOf } from './filters.ts'

const everything =
  'edition=2&status=accepted&search=ann%40acme.com&team_size=10%2B&paid_solution=none&answer=not+coming&from=2026-03-28&to=2026-03-29&marks=disagree&order=oldest'

afterEach(() => vi.unstubAllEnvs())

test('filters are unchanged after a conversion to an address and back', () => {
  const filters = filtersFrom(everything)
  expect(filters).toEqual({
    edition: 2,
    status: 'accepted',
    search: 'ann@acme.com',
    team_size: '10+',
    paid_solution: '',
    answer: 'not coming',
    from: '2026-03-28',
    to: '2026-03-29',
    marks: 'disagree',
    order: 'oldest',
  })
  expect(searchOf(filters)).toBe(everything)
})

test.each(['team_size', 'paid_solution'])(
  'a filter for blank form answers is `none` in the address: %s',
  (name) => {
    const filters = filtersFrom(`${name}=none`)
    expect(filters).toMatchObject({ [name]: '' })
    expect(searchOf(filters)).toBe(`${name}=none`)
  },
)

test('the RSVP filter exists only in tabs with accepted people', () => {
  const coming = filtersFrom('status=accepted&answer=coming')
  expect(searchOf({ ...coming, status: 'all' })).toBe('status=all&answer=coming')
  expect(searchOf({ ...coming, status: 'declined' })).toBe('status=declined')
  expect(filtersFrom('status=all&answer=coming').answer).toBe('coming')
  expect(filtersFrom('answer=coming').answer).toBeNull()
})

test.each(['oldest', 'most yes', 'shuffled'])('the order can be in the address: %s', (order) => {
  expect(filtersFrom(new URLSearchParams({ order }).toString()).order).toBe(order)
})

test.each([
  ['status=all&edition=2&order=oldest&search=%20', false],
  ['search=a', true],
  ['from=2026-03-28', true],
  ['to=2026-03-28', true],
  ['team_size=none', true],
  ['paid_solution=not', true],
  ['status=accepted&answer=coming', true],
  ['marks=disagree', true],
])(
  'a search or a filter narrows a tab, and its status, order and retreat do not: %s, %s',
  (query, expected) => {
    expect(isNarrowed(filtersFrom(query))).toBe(expected)
  },
)

test.each(['2026-03-28(', '+002026-03-28'])(
  'a text that only begins or ends like a day is not a day: %s',
  (day) => {
    expect(filtersFrom(new URLSearchParams({ from: day }).toString()).from).toBe('')
  },
)

test.each(['', '0', 'second'])(
  'an address without a valid number of a retreat means the newest: %j',
  (edition) => {
    expect(filtersFrom(new URLSearchParams({ edition }).toString()).edition).toBeUndefined()
  },
)

test('an address without valid filters shows new applications', () => {
  const nothing = filtersFrom('')
  expect(nothing).toMatchObject({
    status: 'new',
    search: '',
    team_size: null,
    paid_solution: null,
    answer: null,
    from: '',
    to: '',
    order: 'newest',
  })
  expect(
    filtersFrom('status=hired&team_size=7&answer=maybe&from=yesterday&to=2026-13-45&order=newest&x=1'),
  ).toEqual(nothing)
  expect(searchOf(nothing)).toBe('')
})

test('the database filter covers whole days in the organiser’s time zone, and omits the status for all', () => {
  expect(filterOf(filtersFrom('status=all'))).toEqual({})
  expect(filterOf(filtersFrom('search=%20%20'))).toEqual({ status: 'new' })
  expect(filterOf(filtersFrom('search=%20acme%20'))).toEqual({ status: 'new', search: 'acme' })
  const { since, until, ...rest } = filterOf(filtersFrom(everything))
  expect(rest).toEqual({
    edition: 2,
    status: 'accepted',
    search: 'ann@acme.com',
    team_size: '10+',
    paid_solution: '',
    answer: 'not coming',
    marks: 'disagree',
    order: 'oldest',
  })
  expect(since).toBe(new Date(2026, 2, 28).toISOString())
  expect(until).toBe(new Date(2026, 2, 30).toISOString())
})

test.each([
  ['al', 'al'],
  ['ada l', 'l'],
  ['zoë@ac', 'ac'],
  ['éa ', 'éa'],
  ['ada', ''],
  ['al ada', ''],
  ['', ''],
])('a short last word of a search must match exactly: %j, %j', (search, word) => {
  expect(exactWordOf(search)).toBe(word)
})

test('the last day of a filter ends at midnight, even if it has 23 or 25 hours', () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  const untilOf = (to: string) => filterOf(filtersFrom(`to=${to}`)).until
  expect(untilOf('2026-03-29')).toBe('2026-03-29T22:00:00.000Z')
  expect(untilOf('2026-10-25')).toBe('2026-10-25T23:00:00.000Z')
})
