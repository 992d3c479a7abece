import { expect, test } from 'vitest'

import { openTestDatabase } from '../../../testing/database.ts'
import { backupFailure, backupTables, olderTables } from './manifest.ts'
import { checkBackup, restore } from './restore.ts'

/** The tables that no backup has, and why. A new table is backed up, or has a reason. */
const leftOut: Record<string, string> = {
  'private.account_counts': 'what is counted against guessing, for minutes',
  'private.password_tries': 'what is counted against guessing, for minutes',
  'private.decoys': 'answers for addresses without an account, made anew',
  'private.mail_requests': 'what is counted against floods of mail, for an hour',
  'private.signing_keys': 'with the keys a backup would sign in; they are made anew',
  'private.search_vectors': 'the words of long answers, which a restore makes of them again',
  'private.server_migrations': 'which migrations were applied: the restoring version does that itself',
  'auth.sessions': 'sessions, and the tokens in them, would sign in whoever has the backup',
  'auth.flow_state': 'a sign-in on its way, for minutes',
  'auth.one_time_tokens': 'codes and links, for minutes',
  'auth.mfa_factors': 'their secrets would make a second factor of whoever has the backup',
  'auth.mfa_challenges': 'as factors',
  'auth.mfa_amr_claims': 'as sessions',
  'private.acts': 'repeated within a day',
}

test('each table is in a backup, or is left out for a reason', async () => {
  const database = await openTestDatabase()
  const tables = await database.owner<{ name: string }[]>`
    select relnamespace::regnamespace || '.' || relname as name from pg_class
    where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('public', 'private', 'auth')`
  expect(tables.map(({ name }) => name).toSorted()).toEqual(
    [...backupTables.filter((name) => !olderTables.includes(name)), ...Object.keys(leftOut)].toSorted(),
  )
})

test('a folder that cannot be used is named, and a read-only one with the setting of a systemd unit', () => {
  const sentenceOf = (code: string) =>
    String(backupFailure(Object.assign(new Error(`${code}: it failed`), { code }), '/mnt/backup'))
  const sentence = 'Error: The folder "/mnt/backup" cannot be used'
  expect(sentenceOf('ENOSPC')).toBe(`${sentence} (ENOSPC: it failed).`)
  expect(sentenceOf('EROFS')).toBe(
    `${sentence} (EROFS: it failed). If systemd runs the server, its unit has to name the folder in ReadWritePaths.`,
  )
})

test('an address from before the table of addresses is in that table after a restore', async () => {
  const database = await openTestDatabase()
  await restore(database.owner, await checkBackup('testing/fixtures-1.0.0/backup'))
  expect(await database.owner`select application_id, address from private.addresses`).toEqual([
    { application_id: 'caa6522d-b06e-46bf-acc5-731202e01795', address: 'elsewhere@example.net' },
  ])
})

test('a deadline that an organiser set before there was a column for it has it after a restore', async () => {
  const database = await openTestDatabase()
  await restore(database.owner, await checkBackup('testing/fixtures-1.0.0/backup'))
  const set = await database.owner`
    select application_id from private.invitations where is_deadline_set order by 1`
  expect(set).toHaveLength(2)
  expect(set).toEqual(
    await database.owner`select application_id from private.history where kind = 'kept' order by 1`,
  )
})
