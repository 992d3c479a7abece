import { setTimeout as wait } from 'node:timers/promises'

import type * as letters from '../test/support/letters.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { startPostgres, type TestPostgres } from '../test/support/postgres.ts'
import { startServer } from '../test/support/server.ts'
import { printTable, ratio, spread } from './table.ts'
import { importFrom } from './version.ts'

const sentCount = 1_000_000

/**
 * Measures letters a second to a mail server that responds at once or late, and in a database with a million sent letters. Takes
 * turns with the version in the folder that `BESIDE` names, if it is set.
 */
export async function benchLetters(): Promise<void> {
  const { BESIDE: beside } = process.env
  const sides = await Promise.all(
    ['.', ...(beside ? [beside] : [])].map(async (checkout) => {
      const postgres = await startPostgres()
      // The start creates the schema.
      await (await startServer({ DATABASE_URL: postgres.url() }, checkout)).stop()
      const { storeDueLetters, storeSentLetters } = await importFrom<typeof letters>(
        checkout,
        'test/support/letters.ts',
      )
      return { checkout, postgres, storeDueLetters, storeSentLetters }
    }),
  )
  const rows: string[][] = []
  for (const [sent, pause, letterCount, rounds] of [
    [0, 0, 4_000, 9],
    [0, 100, 300, 3],
    [sentCount, 0, 2_000, 3],
  ] as const) {
    if (sent > 0)
      for (const { postgres, storeSentLetters } of sides) await storeSentLetters(postgres.admin, sent)
    const speeds = sides.map((): number[] => [])
    for (let round = 0; round < rounds; round += 1)
      for (const [index, side] of sides.entries())
        speeds[index]?.push(await speedOf(side, letterCount, pause))
    const [ofThisVersion = [], ofBeside] = speeds
    const comparison = ofBeside ? [spread(ofBeside), ratio(ofThisVersion, ofBeside)] : []
    rows.push([`${pause} ms`, sent.toLocaleString('en'), spread(ofThisVersion), ...comparison])
  }
  const head = ['the mail server replies after', 'letters sent before', 'letters a second']
  printTable(
    'Letters to a mail server',
    beside ? [...head, 'the version in BESIDE', 'ratio to it'] : head,
    rows,
  )
  for (const { postgres } of sides) await postgres.close()
}

interface Side extends Pick<typeof letters, 'storeDueLetters' | 'storeSentLetters'> {
  checkout: string
  postgres: TestPostgres
}

/** Measures the letters a second, from the first received letter to the last. */
async function speedOf({ postgres, checkout, storeDueLetters }: Side, letterCount: number, pause: number) {
  const { admin } = postgres
  const mailServer = await startMailServer({ pause })
  const settings = {
    DATABASE_URL: postgres.url(),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
  }
  await admin`update private.postman set stopped = true`
  await admin`delete from public.retreat_applications where company <> 'sent before'`
  await storeDueLetters(admin, letterCount)
  const server = await startServer(settings, checkout)
  await admin`update private.postman set stopped = false`
  while (mailServer.received.length === 0) await wait(1)
  const first = performance.now()
  while (mailServer.received.length < letterCount) await wait(5)
  const seconds = (performance.now() - first) / 1000
  await server.stop()
  await mailServer.close()
  return letterCount / seconds
}
