import { execFile } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../../../test/support/server.ts'
import { createFileWork, FileTimeoutError } from './hanging-folder-queue.ts'

/** Creates a named pipe. A reader blocks one of Node.js's threads until somebody writes. */
async function createPipe() {
  const directory = await temporaryDirectory()
  const path = join(directory.path, 'pipe')
  await promisify(execFile)('mkfifo', [path])
  return path
}

// break: unresponsive-disk-blocks-threads
test('work that hangs times out, no other work begins until it ends, and later work succeeds', async () => {
  const path = await createPipe()
  const runFileWork = createFileWork('/backups', 100)
  let begun = 0
  let reading: Promise<string> = Promise.resolve('')
  const hanging = runFileWork(() => (reading = readFile(path, 'utf8')))
  const queued = runFileWork(async () => (begun += 1))
  await expect(hanging).rejects.toThrow(FileTimeoutError)
  await expect(queued).rejects.toThrow('BACKUP_DIR is "/backups", whose files do not respond')
  await expect(runFileWork(async () => (begun += 1))).rejects.toThrow(FileTimeoutError)
  expect(begun).toBe(0)
  const writer = await open(path, 'w')
  await writer.writeFile('late')
  await writer.close()
  expect(await reading).toBe('late')
  expect(await runFileWork(async () => (begun += 1))).toBe(1)
})

test('work is done one piece at a time, and a failure does not block the next', async () => {
  const runFileWork = createFileWork('/backups')
  const order: string[] = []
  const piece = (name: string) => async () => {
    order.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    order.push(`${name} ends`)
    if (name === 'first') throw new Error(name)
    return name
  }
  const [first, second] = await Promise.allSettled([
    runFileWork(piece('first')),
    runFileWork(piece('second')),
  ])
  expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
  expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
})
