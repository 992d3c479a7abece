import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

import { temporaryDirectory } from '../../../testing/server.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { ensureCluster } from './cluster.ts'
import { trimLog } from './files.ts'

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

test("a DATA_DIR that is another user's, or that others may write to, is refused", async () => {
  const directory = await temporaryDirectory()
  const refusal = async () => {
    const error: unknown = await ensureCluster(directory.path, true).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(OperatorError)
    expect(await readdir(directory.path)).toEqual([])
    return String(error)
  }
  for (const mode of [0o777, 0o720]) {
    await chmod(directory.path, mode)
    expect(await refusal()).toContain('which others may write to')
  }
  await chmod(directory.path, 0o700)
  const { uid } = await stat(directory.path)
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
  expect(await refusal()).toContain(`which belongs to another user (${uid})`)
  getuid.mockRestore()
  await directory.remove()
})
