import { expect, test } from 'vitest'

import { extent, seed } from '../../support/quick-or-long.ts'
import { storeDueLetters } from '../../support/letters.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startPostgres } from '../../support/postgres.ts'
import { randomFrom } from '../../support/random.ts'
import { runCommand, startServer } from '../../support/server.ts'

const rounds = extent({ quick: 3, long: 10 })
const letterCount = extent({ quick: 250, long: 1_000 })

test(`all ${letterCount} letters arrive although the server is killed ${rounds} times; only interrupted letters may arrive twice`, async () => {
  const random = randomFrom(seed)
  const [postgres, mailServer] = await Promise.all([startPostgres(), startMailServer()])
  const settings = {
    DATABASE_URL: postgres.url(),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
  }
  const { admin } = postgres
  await (await startServer(settings)).stop()
  await storeDueLetters(admin, letterCount)

  const connections = async () =>
    (await admin`select from pg_stat_activity where application_name like 'unplugged%'`).length
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServer(settings)
    const enough = mailServer.received.length + 1 + Math.floor(random() * 80)
    await expect.poll(() => mailServer.received.length, { interval: 1 }).toBeGreaterThanOrEqual(enough)
    expect(await server.stop('SIGKILL')).toBe('SIGKILL')
    // Waits until the killed server's queries have ended. The statement ends the leases of letters that were being sent.
    await expect.poll(connections).toBe(0)
    await admin`update private.deliveries set due_at = now() where kind = 'letter' and state = 'sending'`
  }
  const server = await startServer(settings)
  const unsent = async () => (await admin`select from private.letter_deliveries where state <> 'sent'`).length
  await expect.poll(unsent).toBe(0)
  await server.stop()

  const arrivals = new Map<string, number>()
  for (const { text } of mailServer.received) {
    const [, id = ''] = /^Message-ID: <([0-9a-f-]{36})@example\.org>$/im.exec(text) ?? []
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
  }
  const letters = await admin<{ id: string; uncertain: number }[]>`
    select id, may_have_arrived as uncertain from private.letter_deliveries`
  expect([...arrivals.keys()].toSorted()).toEqual(letters.map(({ id }) => id).toSorted())
  const tooOften = letters.filter(({ id, uncertain }) => (arrivals.get(id) ?? 0) > 1 + uncertain)
  expect(tooOften).toEqual([])
  const uncertain = letters.filter((letter) => letter.uncertain > 0)
  const { stdout } = await runCommand(['letters'], settings)
  expect(stdout).toMatch(new RegExp(`^sent +${letterCount}$`, 'm'))
  expect(stdout).toMatch(new RegExp(`^may have arrived twice +${uncertain.length}$`, 'm'))
  // A server sends five letters at once, so a kill can interrupt at most five.
  expect(uncertain.length).toBeLessThanOrEqual(5 * rounds)
})
