import { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'

import type { LettersOverview } from '../../../client/desk/letters.ts'
import { createDecisionQueue } from './decision-queue.ts'
import { createFailedActs } from './failed-acts.ts'
import type { List } from './list.ts'
import { responseHandlerOf } from './acts.ts'

/** A query cache, and the function that changes it after an act. */
function cache() {
  const queries = new QueryClient()
  const queue = createDecisionQueue(
    () => Promise.reject(new Error('no server')),
    () => {},
  )
  return { queries, handleResponse: responseHandlerOf(queries, { queue, failedActs: createFailedActs() }) }
}

test('an act about letters prolongs no countdown of letters that are being sent', () => {
  const { queries, handleResponse } = cache()
  const key = ['letters', 'overview']
  vi.spyOn(Date, 'now').mockReturnValue(1_000_000)
  const settings = { hold_seconds: 60 } as LettersOverview['settings']
  const postman = { is_checking: false } as LettersOverview['postman']
  queries.setQueryData(key, { settings, postman, leaving: [{ act: 'first', count: 1, seconds: 57 }] })
  vi.spyOn(Date, 'now').mockReturnValue(1_018_000)
  handleResponse('desk_check_mail', { is_checking: true }, {})
  expect(queries.getQueryData(key)).toMatchObject({
    postman: { is_checking: true },
    leaving: [{ act: 'first', seconds: 39 }],
  })
  vi.spyOn(Date, 'now').mockReturnValue(1_020_000)
  handleResponse('desk_release', [{ id: 'letter', application: 'ada', outcome: 'released' }], {
    act: 'second',
    letters: [],
    number: null,
    again: false,
  })
  expect(queries.getQueryData(key)).toMatchObject({
    leaving: [
      { act: 'first', seconds: 37 },
      { act: 'second', seconds: 60 },
    ],
  })
  vi.restoreAllMocks()
})

test('an erased application leaves the loaded lists at once, and the other rows stay', () => {
  const { queries, handleResponse } = cache()
  const rows = ['ada', 'bea', 'cy'].map((id) => ({ id }))
  queries.setQueryData(['list', { status: 'new' }], { applications: rows })
  handleResponse('desk_erase', { erased: 1 }, { act: 'act', applications: ['bea'], email: 'bea@example.org' })
  expect(queries.getQueryData<List>(['list', { status: 'new' }])?.applications).toEqual([
    { id: 'ada' },
    { id: 'cy' },
  ])
})
