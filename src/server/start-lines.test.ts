import { expect, test, vi } from 'vitest'

import { atTestEnd } from '../../test/support/cleanup.ts'
import { readSettings } from '../settings/server-settings.ts'
import { migrationLine, startLines } from './start-lines.ts'

const started = {
  description: 'PostgreSQL in /data',
  isNew: false,
  port: 3000,
  isRoot: false,
  openFiles: 1024,
}

test('a first start says in one line how many migrations made the schema', () => {
  expect(migrationLine(47, undefined)).toBe('The schema was created by 47 migrations.')
})

test('an update says in one line whether a backup was made before it, and how to go back or to make a backup', () => {
  expect(migrationLine(3, 'made')).toBe(
    'The schema was updated by 3 migrations. docs/operate.md#go-back says how to go back to the former version.',
  )
  expect(migrationLine(1, 'failed')).toMatch(
    /by 1 migration\. The backup that precedes an update failed, and the log says why: .*\(docs\/operate\.md#go-back\)\.$/,
  )
  expect(migrationLine(2, 'not set')).toMatch(
    /by 2 migrations\. No backup was made before the update, since BACKUP_DIR is not set: set it to a folder .*\(docs\/operate\.md#go-back\)\.$/,
  )
})

test('the address is the last line, and only root is advised to use another user', () => {
  const settings = readSettings({ HOST: '::1' })
  const lines = startLines(settings, started)
  expect(lines.at(-1)).toBe('Unplugged. is ready at http://[::1]:3000/')
  const withMetrics = startLines({ ...settings, metricsAddress: { host: '::1', port: 9464 } }, started)
  expect(withMetrics.filter((line) => !lines.includes(line))).toEqual([
    'The metrics are at http://[::1]:9464/metrics.',
  ])
  const added = startLines(settings, { ...started, isRoot: true }).filter((line) => !lines.includes(line))
  expect(added).toEqual([
    'This runs as root. A user of its own is safer: deploy/unplugged.service says how to make one.',
  ])
  expect(startLines(settings, { ...started, openFiles: 200 })).toContainEqual(
    expect.stringMatching(/^The server may open only 200 files/),
  )
})

test('a TZ that is no time zone is named', () => {
  vi.stubEnv('TZ', 'Mars/Phobos')
  atTestEnd(() => void vi.unstubAllEnvs())
  expect(startLines(readSettings({}), started)).toContainEqual(
    expect.stringMatching(/^TZ is "Mars\/Phobos", which is no time zone/),
  )
})
