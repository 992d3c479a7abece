import { beforeAll, expect, test } from 'vitest'

import type { Database } from '../../src/server/database/database.ts'
import { createApp } from '../../src/server/app.ts'
import { readSettings } from '../../src/settings/server-settings.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

async function ask(path: string, environment: Record<string, string> = {}) {
  const app = await createApp({ settings: readSettings(environment), database })
  const { statusCode: status, headers, body } = await app.inject(path)
  await app.close()
  return { status, headers, body }
}

test('robots are asked to leave out the desk and the interfaces', async () => {
  const { status, headers, body } = await ask('/robots.txt')
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(body).toMatch(/^User-agent: \*\n(Disallow: \/\w+\/?\n)+$/)
})

test('security.txt names the contact of the settings and a date within a year, and is missing without a contact', async () => {
  expect((await ask('/.well-known/security.txt')).status).toBe(404)
  const contact = 'mailto:ada@example.org'
  const { status, body } = await ask('/.well-known/security.txt', { SECURITY_CONTACT: contact })
  expect(status).toBe(200)
  const [, named, expires = ''] = /^Contact: (.*)\nExpires: (.*)\n$/.exec(body) ?? []
  expect(named).toBe(contact)
  const days = (Date.parse(expires) - Date.now()) / 86_400_000
  expect([days > 1, days < 365]).toEqual([true, true])
})

test('the desk and the pages of links may use no camera, microphone or location', async () => {
  for (const path of ['/desk', '/answer/', '/withdraw/']) {
    const { 'permissions-policy': policy } = (await ask(path)).headers
    expect(policy).toMatch(/camera=\(\).*geolocation=\(\).*microphone=\(\)/)
  }
})
