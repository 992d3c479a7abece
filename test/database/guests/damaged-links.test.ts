import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { openTestDatabase } from '../../support/database.ts'
import { defaultLook } from '../../../src/design/look.ts'
import { createApp } from '../../../src/server/app.ts'
import type { Database } from '../../../src/server/database/database.ts'
import { logOptions } from '../../../src/server/log.ts'

let database: Database
let app: Awaited<ReturnType<typeof createApp>>
const lines: string[] = []

beforeAll(async () => {
  database = await openTestDatabase()
  const settings = {
    anonKey: 'key',
    siteUrl: undefined,
    look: defaultLook,
    mailServer: undefined,
    trustProxy: false as const,
    rateLimitPerMinute: 0,
  }
  const log = pino(logOptions, { write: (line: string) => void lines.push(line) })
  app = await createApp({ settings, database, log })
})
afterAll(() => app.close())

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const get = (url: string, headers: Record<string, string> = browser) => app.inject({ url, headers })

test('a link that a mail program changed leads to its page, and the log does not have its token', async () => {
  const token = crypto.randomUUID()
  const [answer, desk] = [(await get('/answer')).body, (await get('/desk')).body]
  const long = 'ab'.repeat(100)
  for (const path of [`/%23${token}`, `%23${token}`, `/${token}.`, `/%2523${token}?utm_source=x`, ').']) {
    const response = await get(`/answer${path}`)
    expect([path, response.statusCode, response.body === answer]).toEqual([path, 200, true])
    expect(response.headers['x-robots-tag']).toBe('noindex')
  }
  for (const path of [`%23token_hash=${token}&type=magiclink`, `/%23token_hash%3D${long}`, '/x/y', '.']) {
    const response = await get(`/desk${path}`)
    expect([path, response.statusCode, response.body === desk]).toEqual([path, 200, true])
  }
  // Without a build, the server also warns that its files are missing.
  const requests = lines.filter((line) => line.includes('"request"'))
  expect(requests).toHaveLength(11)
  expect(new Set(requests.map((line) => (JSON.parse(line) as { route: string }).route))).toEqual(
    new Set(['/answer', '/answer*', '/desk', '/desk*']),
  )
  // These lead to no page.
  for (const path of [`/ANSWER/%23${token}`, `/answer/%23${token}%`, `/desk/%23${token}%E0%A4%A`]) {
    const { statusCode, body } = await get(path)
    expect([path, statusCode, body.includes('Go to the application form')]).toEqual([path, 404, true])
  }
  expect(lines.join('\n')).not.toContain(token)
})

test.each([
  ['/nothing', './'],
  ['/nothing/', '../'],
  ['/an/old/page?x=/y', '../../'],
  ['/ANSWER/%23"><b>', '../'],
])('a browser that asks for %s gets a page with a link to the form at %s', async (url, form) => {
  const { statusCode, headers, body } = await get(url)
  expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(headers['referrer-policy']).toBe('no-referrer')
  expect(body).toContain(`<a href="${form}">`)
  expect(body).not.toContain('<b>')
})

test('programs get a line of text for a missing address, and data calls their JSON', async () => {
  const { statusCode, headers, body } = await get('/nothing', {})
  expect([statusCode, headers['content-type'], body]).toEqual([404, 'text/plain', 'Not found.\n'])
  const unreadable = await get('/rest/v1/%E0%A4%A', {})
  expect([unreadable.statusCode, unreadable.json<unknown>()]).toMatchObject([
    400,
    { code: 'FST_ERR_BAD_URL' },
  ])
  for (const url of ['/rest/v1/nothing', '/auth/v1/nothing']) {
    const response = await get(url, { ...browser, apikey: 'key' })
    expect([url, response.statusCode, typeof response.json()]).toEqual([url, 404, 'object'])
  }
})
