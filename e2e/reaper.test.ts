import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'

import { endWithTest } from '../testing/programs.ts'
import { temporaryDirectory } from '../testing/server.ts'

test('everything that a run started ends with the run, even frozen processes, and nothing else', async () => {
  const { path } = await temporaryDirectory()
  const start = (environment: Record<string, string>, cwd = '/') => {
    const child = spawn('sleep', ['600'], { cwd, env: environment })
    endWithTest(child)
    return { child, ended: once(child, 'exit') }
  }
  const byEnvironment = start({ TEST_RUN: path })
  const byFolder = start({}, path)
  const another = start({ TEST_RUN: `${path}-of-another` })
  await Promise.all([byEnvironment, byFolder, another].map(({ child }) => once(child, 'spawn')))
  byFolder.child.kill('SIGSTOP')

  const reaper = spawn(process.execPath, ['testing/reaper.js', path], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const reaped = once(reaper, 'exit')
  reaper.stdin.end()
  expect(await byEnvironment.ended).toEqual([null, 'SIGKILL'])
  expect(await byFolder.ended).toEqual([null, 'SIGKILL'])
  expect(await reaped).toEqual([0, null])
  expect(existsSync(path)).toBe(false)
  expect(another.child.exitCode ?? another.child.signalCode).toBeNull()
})
