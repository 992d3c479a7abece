import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { OperatorError } from '../settings/operator-error.ts'
import { readOptions } from './options.ts'

const { argv } = process

beforeEach(() => void vi.spyOn(console, 'log').mockReturnValue())

afterEach(() => {
  vi.restoreAllMocks()
  process.argv = argv
})

/** Reads these arguments as a command with the option `--csv`. */
function read(...args: string[]) {
  process.argv = ['node', 'start.js', ...args]
  return readOptions({ csv: { type: 'boolean' } }, 'Usage: npm run applications')
}

test('given options are read', () => {
  expect(read('--csv')).toEqual({ csv: true })
  expect(read()).toEqual({})
  expect(console.log).not.toHaveBeenCalled()
})

test('--help prints the usage, and nothing else is done', () => {
  expect(read('--help', '--csv')).toBeUndefined()
  expect(vi.mocked(console.log).mock.calls).toEqual([['Usage: npm run applications']])
})

test('an unknown option is refused with the usage', () => {
  expect(() => read('--json')).toThrow(OperatorError)
  expect(() => read('--json')).toThrow(/'--json'[^]*\n\nUsage: npm run applications$/)
  expect(() => read('--json')).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' }) }),
  )
})
