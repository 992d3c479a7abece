import { expect, test } from 'vitest'

import { mostConnections, openFilesProblem, readOpenFileLimit } from './open-files.ts'

test('visitors get half of the open files that are not reserved', () => {
  expect([50, 200, 1024, 2 ** 20].map(mostConnections)).toEqual([10, 50, 462, 10_000])
})

test('only a low limit of open files is a problem', () => {
  expect(openFilesProblem(200)).toMatch(
    /^The server may open only 200 files, so at most 50 visitors .*LimitNOFILE/,
  )
  expect([undefined, 1024].map(openFilesProblem)).toEqual([undefined, undefined])
  expect(readOpenFileLimit()).toBeGreaterThan(0)
})
