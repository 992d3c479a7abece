import { expect, test } from 'vitest'

import { openTestDatabase } from '../../../test/support/database.ts'
import { backupFailure } from './manifest.ts'
import { backupTables, tableOf } from './tables.ts'
import { restore } from './restore.ts'
import { checkBackup } from './read-backup.ts'

/** The tables that no backup has, each with the reason. A new table has to be backed up, or listed here. */
const leftOut: Record<string, string> = {
  'private.account_counts': 'counters against guessing and floods of emails, for an hour at most',
  'private.password_tries': 'counters against guessing, for minutes',
  'private.decoys': 'stand-ins for addresses without an account, which a new database creates',
  'private.mail_requests': 'counters against floods of emails, for a minute',
  'private.signing_keys': 'the keys would sign in anybody who has the backup; a server creates new keys',
  'private.search_vectors': 'the words of form answers, which a restore computes again',
  'private.server_migrations': 'the applied migrations, which the restoring version records itself',
  'auth.sessions': 'sessions, and the tokens in them, would sign in anybody who has the backup',
  'auth.flow_state': 'pending sign-ins, for minutes',
  'auth.one_time_tokens': 'codes and links, for minutes',
  'auth.mfa_factors': 'the secrets of factors would give the second factor to anybody who has the backup',
  'auth.mfa_challenges': 'left out with the factors',
  'auth.mfa_amr_claims': 'left out with the sessions',
  'private.acts': 'ids of acts, which are repeated only within a day',
  'private.announcements': 'announcements of erasures, which begin again after a restore',
}

test('each table is in a backup, or is left out for a reason', async () => {
  const database = await openTestDatabase()
  const tables = await database.owner<{ name: string }[]>`
    select relnamespace::regnamespace || '.' || relname as name from pg_class
    where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('public', 'private', 'auth')`
  expect(tables.map(({ name }) => name).toSorted()).toEqual(
    [...backupTables.filter((name) => tableOf(name).part !== 'older'), ...Object.keys(leftOut)].toSorted(),
  )
})

test('the error names a folder that cannot be used, and the setting of a systemd unit if the folder is read-only', () => {
  const sentenceOf = (code: string) =>
    String(backupFailure(Object.assign(new Error(`${code}: it failed`), { code }), '/mnt/backup'))
  const sentence = 'Error: The folder "/mnt/backup" cannot be used'
  expect(sentenceOf('ENOSPC')).toBe(`${sentence} (ENOSPC: it failed).`)
  expect(sentenceOf('EROFS')).toBe(
    `${sentence} (EROFS: it failed). If systemd runs the server, its unit has to name the folder in ReadWritePaths.`,
  )
})

test('after a restore of a 1.0.0 backup, an address that was changed is in the table of addresses', async () => {
  const database = await openTestDatabase()
  await restore(database.owner, await checkBackup('test/fixtures/1.0.0/backup'))
  expect(await database.owner`select application_id, address from private.addresses`).toEqual([
    { application_id: 'caa6522d-b06e-46bf-acc5-731202e01795', address: 'elsewhere@example.net' },
  ])
})

test('after a restore of a 1.0.0 backup, a deadline that an organiser set is marked as set', async () => {
  const database = await openTestDatabase()
  await restore(database.owner, await checkBackup('test/fixtures/1.0.0/backup'))
  const withSetDeadline = await database.owner`
    select application_id from private.invitations where is_deadline_set order by 1`
  expect(withSetDeadline).toHaveLength(2)
  // In the history, `kept` means that an organiser set a deadline.
  expect(withSetDeadline).toEqual(
    await database.owner`select application_id from private.history where kind = 'kept' order by 1`,
  )
})
