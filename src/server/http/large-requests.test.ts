import { expect, test } from 'vitest'

import { createParseQueue } from './large-requests.ts'

test('large bodies are queued for a second at most, or else refused; small ones do not wait', async () => {
  const queueParsing = createParseQueue()
  const order: string[] = []
  const enqueue = (name: string, size: number) =>
    new Promise<void>((resolve) => {
      queueParsing(size, (refusal) => {
        order.push(refusal ? `${name} refused with ${refusal.status}` : name)
        resolve()
      })
    })
  const all = [enqueue('first', 4 * 1024 * 1024), enqueue('second', 4 * 1024 * 1024), enqueue('small', 100)]
  expect(order).toEqual(['small'])
  all.push(enqueue('third', 20_000))
  expect(order).toEqual(['small', 'third refused with 503'])
  await Promise.all(all)
  expect(order).toEqual(['small', 'third refused with 503', 'first', 'second'])
})
