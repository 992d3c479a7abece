import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../../../testing/server.ts'
import { trimLog } from './cluster.ts'

test("PostgreSQL's log is kept to a length, and what was cut off is kept once", async () => {
  const directory = await temporaryDirectory()
  const file = join(directory.path, 'postgres.log')
  await trimLog(directory.path)
  await writeFile(file, 'short')
  await trimLog(directory.path)
  expect(await readFile(file, 'utf8')).toBe('short')
  const long = 'x'.repeat(5 * 1024 * 1024 + 1)
  await writeFile(file, long)
  await trimLog(directory.path)
  expect(await readFile(file, 'utf8')).toBe('')
  expect((await readFile(`${file}.1`, 'utf8')).length).toBe(long.length)
  await directory.remove()
})
