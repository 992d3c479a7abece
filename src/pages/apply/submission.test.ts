import { expect, test } from 'vitest'

import { UnreachableError } from '../../client/insert.ts'
import { RefusedCall } from '../../client/rest.ts'
import { idle, isJudged, messageOf, nextSubmission } from './submission.ts'

test('the initial state has no pending submission and no message', () => {
  expect(idle).toEqual({ status: 'idle', sending: false, message: '' })
})

test('a new submission clears the old message immediately', () => {
  const failed = nextSubmission(idle, { type: 'failed', message: 'no' })
  expect(failed).toMatchObject({ status: 'error', message: 'no', sending: false })
  expect(nextSubmission(failed, { type: 'sent' })).toMatchObject({
    status: 'idle',
    message: '',
    sending: true,
  })
})

test('a submission that the browser refuses removes the old box and sends nothing', () => {
  const success = nextSubmission(nextSubmission(idle, { type: 'sent' }), { type: 'stored' })
  expect(success).toEqual({ status: 'success', sending: false, message: '' })
  expect(nextSubmission(success, { type: 'refused' })).toEqual({ ...success, status: 'idle', sending: false })
})

test.each([[{ message: 'not an Error' }], ['text'], [undefined], [new Error('')]])(
  'an error without a message gets the general message (%s)',
  (error) => {
    expect(messageOf(error, true)).toBe('Failed to submit application. Please try again.')
  },
)

test('an error with a message, such as a refusal by the backend, is shown with it', () => {
  expect(messageOf(new Error('We are full.'), true)).toBe('We are full.')
})

test.each([
  [true, 'You seem to be offline. Your answers are kept here: send them again when you are connected.'],
  [false, 'You seem to be offline. Send your answers again when you are connected.'],
])('the offline message mentions stored answers only if they are stored (%s)', (isStored, message) => {
  expect(messageOf(new UnreachableError('', { cause: new TypeError('Failed to fetch') }), isStored)).toBe(
    message,
  )
})

test('the time of the former submission is shown until somebody types', () => {
  const restored = nextSubmission(idle, { type: 'restored', sentAt: '14:05' })
  expect(restored.sentAt).toBe('14:05')
  expect(nextSubmission(restored, { type: 'typed' })).toEqual({ ...idle, sentAt: undefined })
  // The state must be the same object: otherwise each key would render the form.
  expect(nextSubmission(idle, { type: 'typed' })).toBe(idle)
})

test.each([
  [new RefusedCall('We are full.', 'PT403', 403), true],
  [new RefusedCall('no consent', '23514', 400), true],
  [new RefusedCall('Too many applications.', 'PT429', 429), false],
  [new RefusedCall('busy', '', 503), false],
  [new UnreachableError(''), false],
])('only a refusal of the application itself says that no earlier try is stored (%s)', (error, judged) => {
  expect(isJudged(error)).toBe(judged)
})
