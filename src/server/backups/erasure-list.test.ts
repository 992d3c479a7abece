import { readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { temporaryDirectory } from '../../../test/support/server.ts'
import { visitor } from '../database/connection/pools.ts'
import type { Database } from '../database/database.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import { appendErasures, readErasures } from './erasure-list.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

/** Creates an empty folder. Returns its path, and the path that its list of erasures will have. */
async function createFolder() {
  const directory = await temporaryDirectory()
  return { dir: directory.path, list: join(directory.path, 'erasures') }
}

test('each erasure is listed once, even if two servers write at once, or a full disk has cut off a line', async () => {
  const { dir, list } = await createFolder()
  for (let count = 0; count < 3; count += 1) {
    await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  }
  await writeFile(list, 'cut o')
  await database.owner`delete from public.retreat_applications where id = (select id from public.retreat_applications limit 1)`
  await Promise.all([appendErasures(database.owner, dir), appendErasures(database.owner, dir)])
  await database.owner`delete from public.retreat_applications`
  expect(await appendErasures(database.owner, dir)).toBe(3)
  const lines = (await readFile(list, 'utf8')).split('\n')
  expect(lines).toEqual([
    'cut o',
    ...Array.from({ length: 3 }, () => expect.stringMatching(/^[0-9a-f]{64}$/) as string),
    '',
  ])
  expect(new Set(lines)).toHaveLength(5)
  expect((await readErasures(join(dir, 'a-backup'), undefined))?.size).toBe(3)
  // A lost list is written again.
  await rm(list)
  await appendErasures(database.owner, dir)
  expect((await readErasures('/nowhere/a-backup', dir))?.size).toBe(3)
  expect(await readErasures('/nowhere/a-backup', '/nowhere')).toBeUndefined()
})

test('a list that is not a regular file is refused, and nothing is appended', async () => {
  const { dir, list } = await createFolder()
  const foreignFile = join(dir, 'foreign')
  await writeFile(foreignFile, 'x')
  await symlink(foreignFile, list)
  await expect(appendErasures(database.owner, dir)).rejects.toThrow(/is not a regular file/)
  expect(await readFile(foreignFile, 'utf8')).toBe('x')
})

test('a list that cannot be read is not treated as empty', async () => {
  const { dir, list } = await createFolder()
  await writeFile(list, '')
  // `list` is a file, and not even root can read a path inside a file.
  await expect(readErasures(join(dir, 'a-backup'), list)).rejects.toThrow(
    /^The list of erasures .* cannot be read \(ENOTDIR/,
  )
})
