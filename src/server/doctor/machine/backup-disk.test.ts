import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../../../../test/support/server.ts'
import { checkBackupDisk } from './backup-disk.ts'

const settings = { backupDir: '/mnt/backup', dataDir: '/var/lib/unplugged', databaseUrl: undefined }
const gigabyte = 2 ** 30

test.each([
  ['ok', 3, false, '3,072 MB are free in /mnt/backup, which is not the disk of the database.'],
  [
    'wrong',
    2,
    false,
    '2,048 MB are free in /mnt/backup, and the next backup needs up to 2,112 MB: make room, ',
  ],
  ['not set', 3, true, '/mnt/backup is on the disk of the database, so one lost disk takes both: '],
])('the disk of the backups is %s', async (verdict, free, isDatabaseDisk, sentence) => {
  const disk = { freeBytes: free * gigabyte, backupBytes: gigabyte, isDatabaseDisk }
  const finding = await checkBackupDisk(settings, async () => disk)
  expect(finding.verdict).toBe(verdict)
  expect(finding.sentence).toContain(sentence)
})

test('the disks of two folders are compared', async () => {
  const { path } = await temporaryDirectory()
  const [backupDir, dataDir] = [join(path, 'backups'), join(path, 'data')]
  await mkdir(backupDir)
  await mkdir(dataDir)
  expect(await checkBackupDisk({ backupDir, dataDir, databaseUrl: undefined })).toMatchObject({
    verdict: 'not set',
    sentence: expect.stringContaining(`${backupDir} is on the disk of the database`) as string,
  })
  const elsewhere = { backupDir, dataDir, databaseUrl: 'postgres://db.example/unplugged' }
  expect(await checkBackupDisk(elsewhere)).toMatchObject({ verdict: 'ok' })
  expect(await checkBackupDisk({ ...elsewhere, backupDir: undefined })).toMatchObject({ verdict: 'not set' })
})
