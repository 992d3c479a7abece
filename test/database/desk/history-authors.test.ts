import { readFile, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { storeAcceptedApplicant } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/database.ts'
import { temporaryDirectory } from '../../support/server.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { removeOrganiser } from '../../../src/server/auth/manage-organisers.ts'
import { backUp } from '../../../src/server/backups/backup.ts'
import { fileOf, manifestName, type Manifest } from '../../../src/server/backups/manifest.ts'
import { history } from '../../../src/server/backups/tables.ts'
import { restore } from '../../../src/server/backups/restore.ts'
import { checkBackup } from '../../../src/server/backups/read-backup.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

const authorsOf = (sql: Sql) => sql<{ kind: string; author: string; author_id: string | null }[]>`
  select kind, author, author_id from private.history order by id`

/** Removes the authors' account ids from a backup, as in a backup of a version whose history did not have them. */
async function removeAccounts(folder: string) {
  const name = fileOf(history)
  const lines = (await readFile(join(folder, name), 'utf8')).replaceAll(/,"author_id":(null|"[^"]+")/g, '')
  await writeFile(join(folder, name), lines)
  const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Manifest
  const file = { ...manifest.files[name], sha256: createHash('sha256').update(lines).digest('hex') }
  const files = { ...manifest.files, [name]: file }
  await writeFile(join(folder, manifestName), JSON.stringify({ ...manifest, files }))
}

test('the history and its backup keep the account of each organiser, and none for applicants and commands', async () => {
  const { owner } = server.database
  const { client, email } = await server.signedIn()
  const [account] = await owner<[{ id: string }]>`select id from auth.users where email = ${email}`
  const { id, token } = await storeAcceptedApplicant(owner)
  await owner`delete from private.history`
  const call = async (name: string, args: object) => {
    expect((await client.rpc(name, args)).error).toBeNull()
  }
  await call('desk_note', { act: crypto.randomUUID(), application: id, note: 'A note.' })
  await call('desk_set_blind', { blind: true })
  // An organiser who answers through the link of a letter counts as an applicant.
  await call('answer_place', { token, answer: 'coming', act: crypto.randomUUID() })
  await owner`select private.set_door('operator', null, true, '', null, null)`
  await removeOrganiser(owner, email)
  const expected = [
    { kind: 'note', author: email, author_id: account.id },
    { kind: 'blind', author: email, author_id: account.id },
    { kind: 'answer', author: 'applicant', author_id: null },
    { kind: 'door', author: 'operator', author_id: null },
  ]
  expect(await authorsOf(owner)).toEqual(expected)

  const [restored, restoredOld] = await Promise.all([openTestDatabase(), openTestDatabase()])
  const folder = join((await temporaryDirectory()).path, 'backup')
  await backUp(owner, folder)
  await restore(restored.owner, await checkBackup(folder))
  expect(await authorsOf(restored.owner)).toEqual(expected)
  await removeAccounts(folder)
  await restore(restoredOld.owner, await checkBackup(folder))
  expect(await authorsOf(restoredOld.owner)).toEqual(expected.map((each) => ({ ...each, author_id: null })))
})
