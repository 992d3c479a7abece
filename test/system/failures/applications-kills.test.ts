import { expect, test } from 'vitest'

import { storedEmails } from '../../support/send-application.ts'
import { extent, seed } from '../../support/quick-or-long.ts'
import { startLoad } from '../../support/load.ts'
import { startReceiver } from '../../support/receiver.ts'
import { dataDirectory, startServer } from '../../support/server.ts'
import { randomFrom } from '../../support/random.ts'

/** The number of kills under load. A long run has more. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? extent({ quick: 3, long: 10 }))

test(`each acknowledged application is stored once and delivered, although ${rounds} servers are killed under load`, async () => {
  const directory = await dataDirectory()
  const receiver = await startReceiver()
  const settings = { DATA_DIR: directory.path }
  const delivering = { ...settings, WEBHOOK_URL: receiver.origin }
  const acknowledged: string[] = []
  const random = randomFrom(seed)
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServer(delivering)
    const sending = startLoad(server.origin)
    const enough = 20 + Math.floor(random() * 200)
    await sending.waitUntil(() => sending.acknowledged.length >= enough)
    expect(await server.stop('SIGKILL')).toBe('SIGKILL')
    await sending.end()
    acknowledged.push(...sending.acknowledged)
  }
  const server = await startServer(delivering)
  const emails = new Set(acknowledged.map((email) => encodeURIComponent(email)))
  const delivered = new Set<string>()
  await receiver.waitFor(1, ({ body }) => {
    const email = /email=([^&]*)/.exec(body)?.[1] ?? ''
    if (emails.has(email)) delivered.add(email)
    return delivered.size === emails.size
  })
  expect(await server.stop()).toBe(0)
  const stored = await storedEmails(settings)
  expect(new Set(stored).size).toBe(stored.length)
  expect(acknowledged.filter((email) => !stored.includes(email))).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(20 * rounds)
  await receiver.close()
  await directory.remove()
}, 600_000)
