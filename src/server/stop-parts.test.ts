import { expect, test } from 'vitest'

import { OperatorError } from '../settings/operator-error.ts'
import { stopParts } from './stop-parts.ts'

test('a part that fails to stop, or never stops, is reported, and the other parts are stopped', async () => {
  const stopped: string[] = []
  const part = (name: string, stop: () => Promise<unknown>) => ({
    name,
    stop: () => {
      stopped.push(name)
      return stop()
    },
  })
  const problems = await stopParts(
    [
      part('The webhook', () => Promise.reject(new Error('no'))),
      part('The letters', () => {
        throw new Error('at once')
      }),
      part('The backups', () => new Promise(() => {})),
      part('The pages', () => Promise.resolve()),
      part('The database', () => Promise.reject(new OperatorError('Say this.'))),
    ],
    10,
  )
  expect(stopped).toEqual(['The webhook', 'The letters', 'The backups', 'The pages', 'The database'])
  expect(problems).toEqual([
    'The webhook did not stop cleanly (no).',
    'The letters did not stop cleanly (at once).',
    'The backups did not stop cleanly (not within 0.01 s).',
    'Say this.',
  ])
})
