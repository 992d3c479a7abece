import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { runCommand, startServer, temporaryDirectory } from '../test/support/server.ts'
import { fill } from './growth.ts'
import { insertLoad } from './load.ts'
import { printTable, ratio, spread } from './table.ts'
import { connectToEmbedded } from '../test/support/sql.ts'

const rounds = 30
const seconds = 1
const applicationCount = 1_000_000

/**
 * Measures inserts into a server that writes a backup of 1,000,000 applications. Compares them with inserts into a second
 * server, which has a copy of the database and writes no backup. The first server is frozen while the second is measured.
 */
export async function benchBackup(): Promise<void> {
  const directory = await temporaryDirectory()
  const [dataDir, copy, backups] = ['data', 'copy', 'backups'].map((name) => join(directory.path, name)) as [
    string,
    string,
    string,
  ]
  const fillingServer = await startServer({ DATA_DIR: dataDir })
  const sql = connectToEmbedded(dataDir)
  await fill(sql, applicationCount)
  await sql.end()
  await fillingServer.stop()
  await promisify(execFile)('cp', ['-a', dataDir, copy])
  await mkdir(backups)

  const serverWithout = await startServer({ DATA_DIR: copy })
  const load = async (origin: string) => (await insertLoad(origin, 50, { duration: seconds })).perSecond
  await load(serverWithout.origin)
  const started = performance.now()
  const server = await startServer({ DATA_DIR: dataDir, BACKUP_DIR: backups })
  // Looks at the folder, because searching the server's output during the load would cost more than the backup.
  const isBackupMade = async () => (await readdir(backups)).some((name) => name.startsWith('unplugged-'))
  await load(server.origin)
  const rates = { without: [] as number[], during: [] as number[] }
  for (let round = 0; round < rounds && !(await isBackupMade()); round += 1) {
    server.process.kill('SIGSTOP')
    const rateWithout = await load(serverWithout.origin)
    server.process.kill('SIGCONT')
    const rateDuring = await load(server.origin)
    if (await isBackupMade()) break
    rates.without.push(rateWithout)
    rates.during.push(rateDuring)
  }
  await serverWithout.stop()
  await server.waitForOutput('"msg":"backup made"')
  const backupSeconds = (performance.now() - started) / 1000
  await server.stop()
  const [name = ''] = (await readdir(backups)).filter((each) => each.startsWith('unplugged-'))
  const checkStarted = performance.now()
  const checked = await runCommand(['backup', '--check', '--from', join(backups, name)], {
    TMPDIR: directory.path,
  })
  if (checked.code !== 0) throw new Error(checked.stderr)
  printTable(
    `Inserts while a server writes a backup of ${applicationCount.toLocaleString('en')} applications (${rates.during.length} rounds of ${seconds} s, in turns, 50 connections)`,
    ['', 'inserts/s', 'ratio to without a backup'],
    [
      ['without a backup', spread(rates.without), '1.00'],
      ['while the backup is written', spread(rates.during), ratio(rates.during, rates.without)],
    ],
  )
  printTable(
    'The time for the backup',
    ['', 's'],
    [
      ['written by the server, during these inserts', backupSeconds.toFixed()],
      ['checked', ((performance.now() - checkStarted) / 1000).toFixed()],
    ],
  )
  await directory.remove()
}
