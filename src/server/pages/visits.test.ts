import fastify from 'fastify'
import { expect, test, vi } from 'vitest'

import { sqlOf, type Sql } from '../database/connection/sql.ts'
import { createVisits, isSeen, sourceOf } from './visits.ts'

/** The source of a query, parsed as the server parses it. */
async function sourceIn(query: string) {
  const app = fastify()
  app.get('/', (request) => ({ source: sourceOf(request.query) }))
  const response = await app.inject(`/?${query}`)
  return response.json<{ source: string }>().source
}

// break: any-text-is-source
test.for<[string, string]>([
  ['', ''],
  ['from=', ''],
  ['utm_source=newsletter', ''],
  ['from=newsletter', 'newsletter'],
  ['from=Spring-Mail_2027', 'spring-mail_2027'],
  ['a=b&from=%6eewsletter&c=d', 'newsletter'],
  [`from=${'x'.repeat(40)}`, 'x'.repeat(40)],
  [`from=${'x'.repeat(41)}`, 'other'],
  [`from=${'x'.repeat(10_000)}`, 'other'],
  ['from=other', 'other'],
  ['from=news letter', 'other'],
  ['from=news+letter', 'other'],
  ['from=a%0A', 'other'],
  ['from=a%00', 'other'],
  ['from=%', 'other'],
  ['from=%zz%E0', 'other'],
  ['from=%3Cscript%3E', 'other'],
  ['from=ada@example.com', 'other'],
  ['from=%C3%A4', 'other'],
  // The Kelvin sign and the long s become `k` and `s` in another case.
  ['from=%E2%84%AA', 'other'],
  ['from=%C5%BF', 'other'],
  ['from=a&from=b', 'other'],
  ['from=&from=', 'other'],
  ['from[]=a', ''],
  ['__proto__=a', ''],
  ['__proto__[from]=a', ''],
])('the source of ?%s is "%s"', async ([query, source]) => {
  expect(await sourceIn(query)).toBe(source)
})

const phone =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36'
const cubot = phone.replace('Pixel 9', 'CUBOT X70')

test.for<[Record<string, string>, boolean]>([
  [{ 'user-agent': phone }, true],
  [{ 'user-agent': cubot }, true],
  [{}, true],
  [{ 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }, false],
  [{ 'user-agent': `${cubot} (compatible; GoogleOther; +https://google.com/)` }, false],
  [{ 'user-agent': `${phone} (compatible; AdsBot-Google-Mobile)` }, false],
  [{ 'user-agent': 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)' }, false],
  [{ 'user-agent': 'Mozilla/5.0 (compatible; Yahoo! Slurp)' }, false],
  [{ 'user-agent': 'Baiduspider' }, false],
  [{ 'user-agent': 'CRAWLER' }, false],
  [{ 'user-agent': 'SkypeUriPreview' }, false],
  [{ 'user-agent': 'WhatsApp/2.24.1 A' }, false],
  [{ 'user-agent': 'curl/8.5.0' }, false],
  [{ 'user-agent': phone, 'sec-purpose': 'prefetch' }, false],
  [{ 'user-agent': phone, 'sec-purpose': 'prefetch;prerender' }, false],
  [{ 'user-agent': phone, purpose: 'Prefetch' }, false],
  [{ 'user-agent': phone, purpose: 'preview' }, false],
  [{ 'user-agent': phone, 'sec-purpose': 'navigate' }, true],
])('a person sees the response to a request with the headers %j: %s', ([headers, seen]) => {
  expect(isSeen(headers)).toBe(seen)
})

interface Row {
  source: string
  visits: number
  starts: number
}

/** Starts to count visits with a database that fails while `isFailing`, and never responds while `isFrozen`. */
function startCounting() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  const batches: Row[][] = []
  const warnings: string[] = []
  const database = { isFailing: false, isFrozen: false, tries: 0 }
  const sql: Sql = sqlOf({
    run: async (_text, [rows]) => {
      database.tries += 1
      if (database.isFrozen) await new Promise(() => {})
      if (database.isFailing) throw new Error('gone')
      batches.push(JSON.parse(String(rows)) as Row[])
      return [] as never
    },
    begin: () => Promise.reject(new Error('no transaction')),
  })
  const warn = vi.fn<(about: unknown, message?: string) => void>((_about, message = '') => {
    warnings.push(message)
  })
  const visits = createVisits(sql, { warn })
  const countVisit = (from: string, headers = {}) => visits.countVisit({ headers, query: { from } })
  return { batches, warnings, database, visits, countVisit }
}

/** Lets this many batches become due. */
const wait = (batches: number) => vi.advanceTimersByTimeAsync(batches * 10_000)

// break: visit-has-user-agent
// break: sources-in-memory-unlimited
test('10,000 different sources become a thousand and `other`, and nothing but counts is saved', async () => {
  const { batches, visits, countVisit } = startCounting()
  for (let number = 0; number < 10_000; number += 1)
    countVisit(`name-${number}`, { 'user-agent': `browser ${number}` })
  countVisit('')
  countVisit('name-7')
  visits.countStart({ headers: {} })
  await visits.stop()
  const [rows = [], ...more] = batches
  expect(more).toEqual([])
  expect(rows).toHaveLength(1_002)
  expect(rows.find(({ source }) => source === 'name-7')).toEqual({ source: 'name-7', visits: 2, starts: 0 })
  expect(rows.find(({ source }) => source === '')).toEqual({ source: '', visits: 1, starts: 1 })
  expect(rows.find(({ source }) => source === 'other')).toEqual({ source: 'other', visits: 9_000, starts: 0 })
  expect(new Set(rows.flatMap((row) => Object.keys(row)))).toEqual(new Set(['source', 'visits', 'starts']))
})

test('a batch is saved every ten seconds, and the database is not called if there are no visits', async () => {
  const { batches, database, visits, countVisit } = startCounting()
  countVisit('', { 'user-agent': 'Googlebot' })
  await wait(3)
  expect(database.tries).toBe(0)
  countVisit('mail')
  countVisit('mail')
  await wait(1)
  visits.countStart({ headers: {} })
  await wait(3)
  expect(batches).toEqual([
    [{ source: 'mail', visits: 2, starts: 0 }],
    [{ source: '', visits: 0, starts: 1 }],
  ])
  await visits.stop()
  expect(database.tries).toBe(2)
})

test('a failed batch is part of the next one, and the log says so once until a batch is saved', async () => {
  const { batches, warnings, database, visits, countVisit } = startCounting()
  database.isFailing = true
  countVisit('mail')
  await wait(3)
  for (let number = 0; number < 2_000; number += 1) countVisit(`name-${number}`)
  countVisit('mail')
  await wait(3)
  expect(database.tries).toBe(6)
  expect(warnings).toEqual(['visits could not be saved: the next try includes them'])
  database.isFailing = false
  await wait(1)
  expect(batches).toHaveLength(1)
  expect(batches[0]).toHaveLength(1_001)
  expect(batches[0]).toContainEqual({ source: 'mail', visits: 2, starts: 0 })
  expect(batches[0]).toContainEqual({ source: 'other', visits: 1_001, starts: 0 })

  database.isFailing = true
  countVisit('mail')
  await wait(2)
  expect(warnings).toHaveLength(2)
  database.isFailing = false
  await visits.stop()
  expect(batches.slice(1)).toEqual([[{ source: 'mail', visits: 1, starts: 0 }]])
})

test('a stop waits a bounded time for a database that does not respond, and says what is lost', async () => {
  const { warnings, database, visits, countVisit } = startCounting()
  database.isFrozen = true
  countVisit('mail')
  void visits.stop()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toEqual(['the last visits were not saved'])
})
