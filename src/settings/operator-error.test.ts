import { afterEach, expect, test, vi } from 'vitest'

import { OperatorError, runProgram } from './operator-error.ts'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

test('for an operator error, a program prints only the message and exits with 1', async () => {
  const print = vi.spyOn(console, 'error').mockReturnValue()
  await runProgram(async () => {
    throw new OperatorError('Name another folder.')
  })
  expect(print.mock.calls).toEqual([['Name another folder.']])
  expect(process.exitCode).toBe(1)
})

test('a bug is rethrown, and a program that succeeds sets no exit code', async () => {
  const bug = new TypeError('undefined is no function')
  await expect(runProgram(() => Promise.reject(bug))).rejects.toBe(bug)
  const main = vi.fn<() => Promise<void>>(async () => {})
  await runProgram(main)
  expect(main).toHaveBeenCalledOnce()
  expect(process.exitCode).toBeUndefined()
})
