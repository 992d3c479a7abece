import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'

import type { CallDesk } from '../../../client/desk.ts'
import { createDecisionQueue } from './decision-queue.ts'
import { queriesOf } from './queries.ts'

test('a malformed overview of letters reaches the screen that shows it, after the navigation', async () => {
  const call = (() => Promise.resolve({})) as unknown as CallDesk
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const queue = createDecisionQueue(call, () => {})
  const { letters, freshLetters } = queriesOf(call, queue, queries)
  // Like the frame, the navigation observes the overview first, and never reads it.
  const navigation = new QueryObserver(queries, { ...letters(), enabled: false })
  const screen = new QueryObserver(queries, freshLetters())
  const ends = [navigation, screen].map((observer) => observer.subscribe(() => {}))
  await expect.poll(() => queries.isFetching()).toBe(0)
  for (const observer of [navigation, screen])
    expect(observer.getCurrentResult()).toMatchObject({ data: {}, error: null })
  for (const end of ends) end()
})
