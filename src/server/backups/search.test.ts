import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { temporaryDirectory } from '../../../test/support/server.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import type { Database } from '../database/database.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import { visitor } from '../database/connection/pools.ts'
import { backUp } from './backup.ts'
import { searchBackups } from './search.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

const store = (email: string, reason = 'To think.') =>
  insertApplications(database.as(visitor), sentRowsOf(anApplication({ email, reason })))
const person = (email: string, ids: readonly string[] = []) => ({ email, ids: new Set(ids) })

test('each backup with applications of a person is named with its time, even if they were erased from the database', async () => {
  const { path: dir } = await temporaryDirectory()
  await writeFile(join(dir, 'erasures'), '')
  await mkdir(join(dir, 'lost+found'))
  await backUp(database.owner, join(dir, 'before'))
  await store(' Ada"Quoted"@Example.com')
  await store('ada"quoted"@example.com')
  await store('grace@example.com', 'ada"quoted"@example.com told me of it.')
  await backUp(database.owner, join(dir, 'first'))
  await database.owner`delete from public.retreat_applications where email ilike '%ada%'`
  await store('ada"quoted"@example.com')
  await backUp(database.owner, join(dir, 'second'))
  await database.owner`delete from public.retreat_applications where email ilike '%ada%'`
  await backUp(database.owner, join(dir, 'after'))

  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string
  const search = searchBackups(dir, person('ADA"quoted"@example.com '))
  expect(await search).toEqual({
    count: 4,
    backups: [
      { folder: join(dir, 'second'), created_at: time, applications: 1 },
      { folder: join(dir, 'first'), created_at: time, applications: 2 },
    ],
  })
  expect(await searchBackups(dir, person('nobody@example.com'))).toEqual({ count: 4, backups: [] })
})

test.each([
  ['tim@bücher.example', '\u00a0Tim@XN--BCHER-KVA.example'],
  ['tom@xn--bcher-kva.example', 'TOM@BÜCHER.example\u200b'],
])(
  'an application of %s is found in either form of its domain, and whatever blanks are around it',
  async (wanted, stored) => {
    const { path: dir } = await temporaryDirectory()
    await store(stored)
    await backUp(database.owner, join(dir, 'backup'))
    const { backups } = await searchBackups(dir, person(wanted))
    expect(backups).toMatchObject([{ applications: 1 }])
    expect(await searchBackups(dir, person('tim@bucher.example'))).toMatchObject({ backups: [] })
  },
)

test('an application with an earlier email of the person is found by its id', async () => {
  const { path: dir } = await temporaryDirectory()
  await store('typo@example.com')
  await backUp(database.owner, join(dir, 'backup'))
  const [{ id }] = await database.owner<[{ id: string }]>`
    select id from public.retreat_applications where email = 'typo@example.com'`
  const { backups } = await searchBackups(dir, person('right@example.com', [id]))
  expect(backups).toMatchObject([{ applications: 1 }])
})

test('an erased application is found in a backup by the address that organisers wrote instead', async () => {
  const { path: dir } = await temporaryDirectory()
  await store('wrong@example.com')
  await database.owner`
    insert into private.addresses (application_id, address)
    select id, 'Corrected@example.com' from public.retreat_applications where email = 'wrong@example.com'`
  await backUp(database.owner, join(dir, 'backup'))
  await database.owner`delete from public.retreat_applications where email = 'wrong@example.com'`
  const { backups } = await searchBackups(dir, person('corrected@example.com'))
  expect(backups).toMatchObject([{ applications: 1 }])
})

test('a copy and an unfinished backup are searched too, and a backup that cannot be read is named', async () => {
  const { path: dir } = await temporaryDirectory()
  await store('tim@example.com')
  await backUp(database.owner, join(dir, 'copy'))
  await backUp(database.owner, join(dir, 'whole'))
  await rename(join(dir, 'whole'), join(dir, '.unplugged-2026-12-31T03-00-00Z.abcdef'))
  const unfinished = join(dir, '.unplugged-2026-12-31T03-00-00Z.abcdef')
  await rm(join(unfinished, 'manifest.json'))
  const file = 'public.retreat_applications.jsonl'
  for (const name of ['cut', 'link']) await mkdir(join(dir, name))
  await writeFile(join(dir, 'cut', file), '{"email":"tim@example.com"')
  await symlink(join(dir, 'copy', file), join(dir, 'link', file))
  const problem = (name: string, text: RegExp) => ({
    folder: join(dir, name),
    problem: expect.stringMatching(text) as string,
  })
  const { backups } = await searchBackups(dir, person('tim@example.com'))
  expect(backups.slice(0, 2)).toMatchObject([
    { folder: join(dir, 'copy'), applications: 1 },
    { folder: unfinished, created_at: null, applications: 1 },
  ])
  expect(new Set(backups.slice(2))).toEqual(
    new Set([problem('cut', /is not a whole backup/), problem('link', /is not a regular file/)]),
  )
})

test('a backup folder that cannot be read is named in a sentence', async () => {
  const search = searchBackups('/nowhere', person('ada@example.com'))
  await expect(search).rejects.toThrow(OperatorError)
  await expect(search).rejects.toThrow(/^BACKUP_DIR is "\/nowhere", which cannot be read \(ENOENT/)
})
