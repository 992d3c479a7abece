import { format } from 'node:util'

import { expect } from 'vitest'

import { atTestEnd } from './cleanup.ts'

/** Messages that no browser causes: of React about the DOM of the tests, and because all desks of a process share one store. */
const known = [/<search> is unrecognized/, /Multiple GoTrueClient instances/]

/**
 * Records errors and warnings of the console until the test ends, and then fails it if there were unexpected ones.
 *
 * @returns A function that declares messages like this one as expected.
 */
export function recordProblems(): (message: RegExp) => void {
  const problems: string[] = []
  const allowed = [...known]
  const { error, warn } = console
  console.error = (...words: unknown[]) => problems.push(format(...words))
  console.warn = console.error
  atTestEnd(() => {
    Object.assign(console, { error, warn })
    expect(problems.filter((problem) => !allowed.some((pattern) => pattern.test(problem)))).toEqual([])
  })
  return (message) => void allowed.push(message)
}
