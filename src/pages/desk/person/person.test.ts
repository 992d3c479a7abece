import { expect, test } from 'vitest'

import type { DeliveryAbout } from '../../../client/desk/person.ts'
import { callWords, deadlineWords, deliveryName, deliveryWords } from './person.ts'

// Moments such as T1 cannot be parsed, so the words contain them unchanged.
const waiting: DeliveryAbout = {
  id: '1',
  kind: 'letter',
  letter: '2',
  event: null,
  recipient: 'ada@example.com',
  subject: 'Hello',
  body: 'Hello',
  since: null,
  until: null,
  state: 'waiting',
  by: 'server',
  act: null,
  author: 'grace@example.org',
  queued_at: 'T1',
  due_at: 'T2',
  tried_at: null,
  done_at: null,
  attempts: 0,
  reply_status: null,
  reply: '',
  is_refused: false,
  may_have_arrived: 0,
  closings: 0,
  recalled_at: null,
  recalled_by: null,
  is_beside: false,
  mailbox: null,
  domain: null,
  failures: [],
}
const done = { state: 'done', due_at: null, done_at: 'T3', tried_at: 'T3', attempts: 1 } as const
const failed = { state: 'failed', due_at: null, tried_at: 'T3', attempts: 3 } as const

test.each<[string, Partial<DeliveryAbout>]>([
  ['written T1, by grace@example.org, due T2', {}],
  [
    'written T1, by grace@example.org, 1 try, the last T3, being sent',
    { state: 'sending', attempts: 1, tried_at: 'T3' },
  ],
  ['written T1, by grace@example.org, 1 try, sent T3, reply “250 OK”', { ...done, reply: '250 OK' }],
  [
    'written T1, by grace@example.org, 2 tries, the last T3, 1 result unknown, sent T3',
    { ...done, attempts: 2, may_have_arrived: 1 },
  ],
  ['written T1, sent by hand T3', { ...done, attempts: 0, author: null, by: 'hand' }],
  ['written T1, 1 try, contacted another way T3', { ...done, author: null, by: 'elsewhere' }],
  [
    'written T1, 3 tries, the last T3, refused, response 410',
    { ...failed, author: null, is_refused: true, reply_status: 410 },
  ],
  ['written T1, 3 tries, the last T3, given up', { ...failed, author: null }],
  [
    'written T1, 1 try, sent T3, not delivered to a@example.org T2',
    { ...done, author: null, failures: [{ address: 'a@example.org', at: 'T2' }] },
  ],
  [
    'written T1, stopped T4 by grace@example.org',
    { state: 'cancelled', due_at: null, author: null, recalled_at: 'T4', recalled_by: 'grace@example.org' },
  ],
  [
    'written T1, stopped T4 automatically',
    { state: 'cancelled', due_at: null, author: null, recalled_at: 'T4' },
  ],
  ['written T1, stopped', { state: 'cancelled', due_at: null, author: null }],
  ['written T1, not passed on so far', { author: null, recipient: 'webhook' }],
  ['about T5 to T6, written T1, due T2', { author: null, since: 'T5', until: 'T6' }],
])('a delivery in words: %s', (words, changes) => {
  expect(deliveryWords({ ...waiting, ...changes })).toBe(words)
})

test('a delivery is named by its kind and its recipient', () => {
  expect(deliveryName(waiting)).toBe('Letter to ada@example.com')
  expect(deliveryName({ kind: 'rsvp', recipient: 'webhook' })).toBe('RSVP to the connected system')
})

test('an act is named by its call, and a deadline by its day and who set it', () => {
  expect(callWords('desk_answer_questions')).toBe('answer questions')
  expect(deadlineWords({ deadline: '2026-12-31', is_deadline_set: true })).toBe(
    '31 December 2026, set by an organiser',
  )
  expect(deadlineWords({ deadline: '2026-12-31', is_deadline_set: false })).toBe('31 December 2026')
  expect(deadlineWords({ deadline: null, is_deadline_set: false })).toBeNull()
})
