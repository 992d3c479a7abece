import { afterEach, expect, test, vi } from 'vitest'

import { OperatorError, runProgram } from './operator-error.ts'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

test('what an operator can solve is printed as its one sentence, and the program fails', async () => {
  const print = vi.spyOn(console, 'error').mockReturnValue()
  await runProgram(async () => {
    throw new OperatorError('Name another folder.')
  })
  expect(print.mock.calls).toEqual([['Name another folder.']])
  expect(process.exitCode).toBe(1)
})

test('a bug is thrown on, and a program that goes well sets nothing', async () => {
  const bug = new TypeError('undefined is no function')
  await expect(runProgram(() => Promise.reject(bug))).rejects.toBe(bug)
  const main = vi.fn<() => Promise<void>>(async () => {})
  await runProgram(main)
  expect(main).toHaveBeenCalledOnce()
  expect(process.exitCode).toBeUndefined()
})
