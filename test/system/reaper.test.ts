import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'

import { endWithTest } from '../support/end-with-test.ts'
import { temporaryDirectory } from '../support/server.ts'

test('all processes of a test run end with the run, even frozen ones, and other processes do not', async () => {
  const { path } = await temporaryDirectory()
  const start = (environment: Record<string, string>, cwd = '/') => {
    const child = spawn('sleep', ['600'], { cwd, env: environment })
    endWithTest(child)
    return { child, ended: once(child, 'exit') }
  }
  const byEnvironment = start({ TEST_RUN: path })
  const byFolder = start({}, path)
  const ofAnotherRun = start({ TEST_RUN: `${path}-of-another` })
  await Promise.all([byEnvironment, byFolder, ofAnotherRun].map(({ child }) => once(child, 'spawn')))
  byFolder.child.kill('SIGSTOP')

  const reaper = spawn(process.execPath, ['test/support/reaper.js', path], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const reaped = once(reaper, 'exit')
  reaper.stdin.end()
  expect(await byEnvironment.ended).toEqual([null, 'SIGKILL'])
  expect(await byFolder.ended).toEqual([null, 'SIGKILL'])
  expect(await reaped).toEqual([0, null])
  expect(existsSync(path)).toBe(false)
  expect(ofAnotherRun.child.exitCode ?? ofAnotherRun.child.signalCode).toBeNull()
})
