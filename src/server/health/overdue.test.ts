import { expect, test } from 'vitest'

import { findStuck } from './overdue.ts'

const now = Date.parse('2026-11-29T12:00:00Z')
const working = {
  oldestUndeliveredSeconds: 600,
  deliveriesGivenUp: 0,
  // A short failure is retried.
  mailFailingSince: new Date(now - 600_000),
  newestBackupSeconds: 25 * 3600,
  backupsFailingSince: null,
}

test.each([
  [{}, undefined],
  [{ oldestUndeliveredSeconds: null, mailFailingSince: null, newestBackupSeconds: null }, undefined],
  [{ oldestUndeliveredSeconds: 601 }, 'Applications do not reach the webhook'],
  [{ deliveriesGivenUp: 1 }, 'Deliveries to the webhook were given up'],
  [{ mailFailingSince: new Date(now - 600_001) }, 'The mail server accepts no email'],
  [{ backupsFailingSince: '2026-11-29T11:59:00Z' }, 'Backups fail'],
  [{ newestBackupSeconds: 25 * 3600 + 1 }, 'The backup of the last day is missing'],
])('with %o, what is stuck is %s', (change, stuck) => {
  const sentences = findStuck({ ...working, ...change }, now)
  expect(sentences.map((sentence) => sentence.split(':')[0])).toEqual(stuck === undefined ? [] : [stuck])
})
