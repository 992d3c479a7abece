import { expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, getDesk } from '../support/desk-page.ts'
import { anApplication } from '../support/form.ts'
import { dataDirectory, startServer } from '../support/server.ts'
import { connectToEmbedded } from '../support/sql.ts'
import { until } from '../support/until.ts'
import { test, waitForHydration } from '../support/visitor.ts'

const phone =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36'

interface Row {
  source: string
  visits: number
  starts: number
}

/** Starts a server on a new database. `stopAndReadVisits` stops the server, and returns the visits that it saved. */
async function startCounting() {
  const { path } = await dataDirectory()
  const server = await startServer({ DATA_DIR: path })
  const get = async (address: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(server.origin + address, {
      method,
      headers: { 'user-agent': phone, ...headers },
    })
    const { status } = response
    return { status, headers: response.headers, body: await response.text() }
  }
  const stopAndReadVisits = async () => {
    expect(await server.stop()).toBe(0)
    await startServer({ DATA_DIR: path })
    return connectToEmbedded(path)<Row[]>`select source, visits, starts from private.visits order by source`
  }
  return { origin: server.origin, get, stopAndReadVisits }
}

test('requests for the page and its script are counted by source and saved at the stop, except those of robots and prefetches', async () => {
  const { origin, get, stopAndReadVisits } = await startCounting()
  const plain = await get('/')
  const named = await get('/?from=Newsletter')
  // A source changes neither the page nor its headers nor its caching.
  const withoutDate = ({ headers }: typeof plain) => [...headers].filter(([name]) => name !== 'date')
  expect(withoutDate(named)).toEqual(withoutDate(plain))
  expect(named.body).toBe(plain.body)
  expect(named.body).not.toMatch(/newsletter/i)
  const etag = plain.headers.get('etag') ?? ''
  expect((await get('/?from=newsletter&x=1', { 'if-none-match': etag })).status).toBe(304)

  const [script = ''] = /assets\/apply-[\w-]+\.js/.exec(plain.body) ?? []
  expect((await get(`/${script}`)).headers.get('cache-control')).toContain('immutable')
  expect((await get(`/${script}?1`, { referer: `${origin}/?from=newsletter` })).status).toBe(200)

  const ignored: Record<string, string>[] = [
    { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
    { 'user-agent': 'WhatsApp/2.24.1 A' },
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
  ]
  for (const headers of ignored) {
    expect((await get('/?from=robots', headers)).status).toBe(200)
    expect((await get(`/${script}`, headers)).status).toBe(200)
  }
  // These requests are no visits.
  expect((await get('/?from=head', {}, 'HEAD')).status).toBe(200)
  expect((await get('/?from=post', {}, 'POST')).status).toBe(400)
  const body = new URLSearchParams(
    Object.entries(anApplication()).map(([key, value]) => [key, String(value)]),
  )
  expect((await fetch(`${origin}/?from=form`, { method: 'POST', body })).status).toBe(200)
  for (const address of [
    '/desk?from=desk',
    '/answer?from=answer',
    '/healthz?from=health',
    '/nothing?from=404',
  ])
    await get(address)
  expect((await get('/assets/apply-nothing.js')).status).toBe(404)
  expect((await get(`/${script}`, {}, 'HEAD')).status).toBe(200)

  expect(await stopAndReadVisits()).toEqual([
    { source: '', visits: 1, starts: 2 },
    { source: 'newsletter', visits: 2, starts: 0 },
  ])
})

test('the server keeps at most 200 names a day of anything that visitors write into `from`', async () => {
  const { get, stopAndReadVisits } = await startCounting()
  const hostile = [
    `from=${'x'.repeat(41)}`,
    `from=${'x'.repeat(10_000)}`,
    'from=%3Cscript%3Ealert(1)%3C/script%3E',
    'from=%00',
    'from=%zz%',
    'from=%F0%9F%92%A9',
    "from=';drop table private.visits;--",
    'from=a&from=b',
    'from=ada@example.com',
    'from=%E2%84%AA',
  ]
  for (const query of hostile) expect((await get(`/?${query}`)).status).toBe(200)
  expect((await get('/?from[]=a&from[b]=c&__proto__[from]=d&constructor=e')).status).toBe(200)
  expect((await get(`/?from=${'x'.repeat(20_000)}`)).status).toBe(431)
  const names = Array.from({ length: 1_500 }, (_, index) => `name-${index}`)
  for (let sent = 0; sent < names.length; sent += 50)
    await Promise.all(names.slice(sent, sent + 50).map((name) => get(`/?from=${name}`)))
  await get('/?from=name-0')

  const rows = await stopAndReadVisits()
  // 200 names, the requests without a name, and `other` for all further names.
  expect(rows).toHaveLength(202)
  expect(rows.reduce((sum, { visits }) => sum + visits, 0)).toBe(hostile.length + 1 + names.length + 1)
  expect(rows[0]).toEqual({ source: '', visits: 1, starts: 0 })
  expect(rows.every(({ source }) => /^[a-z0-9_-]{0,40}$/.test(source))).toBe(true)
  const other = rows.find(({ source }) => source === 'other')
  expect(other?.visits).toBeGreaterThanOrEqual(hostile.length + names.length - 200)
})

const desk = deskForTestFile()

test('the charts show visits, starts and sources, once a server has counted', async ({ visitor }) => {
  await desk.store(people(3))
  const page = await desk.open(visitor)
  await getDesk(page).button('Charts').click()
  const visits = page.getByRole('region', { name: 'Visits' })
  await expect
    .poll(() => visits.textContent())
    .toBe('No visits were counted. Only a server that serves the page counts them, and leaves out robots.')

  const form = await visitor.open(`${desk.origin}/?from=Newsletter`, { userAgent: phone })
  await waitForHydration(form)
  await fetch(desk.origin)
  await until('the next batch', async () => {
    const [sum] =
      await desk.sql`select sum(visits)::int as visits, sum(starts)::int as starts from private.visits`
    return sum?.['visits'] === 2 && sum['starts'] === 1
  })
  await page.reload()
  await visits.getByText('The page in the last 90 days: 2 visits, 1 start, 3 applications.').waitFor()
  const cells = (caption: string) =>
    visits
      .getByRole('table', { name: caption })
      .getByRole('row')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)))
  expect(await cells('Visits by source')).toEqual([
    ['Source', 'Visits'],
    ['No source', '1'],
    ['newsletter', '1'],
  ])
  const [head, ...days] = await cells('Visits, starts and applications a day')
  expect(head).toEqual(['Day', 'Visits', 'Starts', 'Applications'])
  expect(days.at(-1)?.slice(1, 3)).toEqual(['2', '1'])
  expect(await visits.locator('.plots-days').count()).toBe(3)

  // The charts of visits are about the page for applicants, so they stay in a tab without applications.
  await getDesk(page).tab('Declined').click()
  await page.getByText('No applications here.').waitFor()
  await expect.poll(() => page.getByRole('figure').count()).toBe(2)
  expect(await visits.getByRole('figure').count()).toBe(2)

  await page.route('**/rpc/desk_visits', (route) =>
    route.fulfill({ status: 500, json: { code: 'XX000', message: 'No.' } }),
  )
  visitor.allowConsoleError(/Failed to load resource/)
  await page.reload()
  await visits.getByText('Visits were not loaded. No.').waitFor()
  await page.unroute('**/rpc/desk_visits')
  await visits.getByRole('button', { name: 'Try again' }).click()
  await visits.getByText('The page in the last 90 days').waitFor()
})
