import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { runCommand, startServer, temporaryDirectory } from '../testing/server.ts'
import { fill } from './growth.ts'
import { insertLoad } from './load.ts'
import { printTable, ratio, spread } from './table.ts'
import { connectToFiles } from '../testing/sql.ts'

const rounds = 30
const seconds = 1
const applicationCount = 1_000_000

/**
 * Inserts into a server while it writes a backup of 1,000,000 applications, and into one with a copy of the same database without
 * a backup. The first server is frozen while the other is measured.
 */
export async function benchBackup(): Promise<void> {
  const directory = await temporaryDirectory()
  const [dataDir, copy, backups] = ['data', 'copy', 'backups'].map((name) => join(directory.path, name)) as [
    string,
    string,
    string,
  ]
  const filling = await startServer({ DATA_DIR: dataDir })
  const sql = connectToFiles(dataDir)
  await fill(sql, applicationCount)
  await sql.end()
  await filling.stop()
  await promisify(execFile)('cp', ['-a', dataDir, copy])
  await mkdir(backups)

  const serverWithout = await startServer({ DATA_DIR: copy })
  const load = async (origin: string) => (await insertLoad(origin, 50, { duration: seconds })).perSecond
  await load(serverWithout.origin)
  const started = performance.now()
  const server = await startServer({ DATA_DIR: dataDir, BACKUP_DIR: backups })
  // Looks at the folder, since searching the server's output during the load would cost more than the backup.
  const isMade = async () => (await readdir(backups)).some((name) => name.startsWith('unplugged-'))
  await load(server.origin)
  const rates = { without: [] as number[], beside: [] as number[] }
  for (let round = 0; round < rounds && !(await isMade()); round += 1) {
    server.process.kill('SIGSTOP')
    const rate = await load(serverWithout.origin)
    server.process.kill('SIGCONT')
    const beside = await load(server.origin)
    if (await isMade()) break
    rates.without.push(rate)
    rates.beside.push(beside)
  }
  await serverWithout.stop()
  await server.waitForOutput('"msg":"backup made"')
  const backupSeconds = (performance.now() - started) / 1000
  await server.stop()
  const [name = ''] = (await readdir(backups)).filter((each) => each.startsWith('unplugged-'))
  const checking = performance.now()
  const checked = await runCommand(['backup', '--check', '--from', join(backups, name)], {
    TMPDIR: directory.path,
  })
  if (checked.code !== 0) throw new Error(checked.stderr)
  printTable(
    `Inserts while a server writes a backup of ${applicationCount.toLocaleString('en')} (${rates.beside.length} rounds of ${seconds} s, in turns, 50 connections)`,
    ['', 'inserts/s', 'to without'],
    [
      ['without', spread(rates.without), '1.00'],
      ['while it is written', spread(rates.beside), ratio(rates.beside, rates.without)],
    ],
  )
  printTable(
    'The backup',
    ['', 's'],
    [
      ['written by the server, with these loads', backupSeconds.toFixed()],
      ['checked', ((performance.now() - checking) / 1000).toFixed()],
    ],
  )
  await directory.remove()
}
