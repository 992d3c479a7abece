import { expect, test } from 'vitest'

import { UnreachableError } from '../../client/insert.ts'
import { idle, messageOf, nextSubmission } from './submission.ts'

test('before the first send nothing is under way and nothing is said', () => {
  expect(idle).toEqual({ status: 'idle', sending: false, message: '', accepted: 0 })
})

test('a new send clears the old message at once', () => {
  const failed = nextSubmission(idle, { type: 'failed', message: 'no' })
  expect(failed).toMatchObject({ status: 'error', message: 'no', sending: false })
  expect(nextSubmission(failed, { type: 'sent' })).toMatchObject({
    status: 'idle',
    message: '',
    sending: true,
  })
})

test('a send that the browser refuses takes the old box away, and sends nothing', () => {
  const success = nextSubmission(nextSubmission(idle, { type: 'sent' }), { type: 'accepted' })
  expect(nextSubmission(success, { type: 'refused' })).toEqual({ ...success, status: 'idle', sending: false })
})

test('each success asks for a new, empty form', () => {
  const once = nextSubmission(nextSubmission(idle, { type: 'sent' }), { type: 'accepted' })
  const twice = nextSubmission(nextSubmission(once, { type: 'sent' }), { type: 'accepted' })
  expect(once).toMatchObject({ status: 'success', sending: false })
  expect(twice.accepted).toBe(once.accepted + 1)
})

test('a failure keeps the form', () => {
  const sent = nextSubmission(idle, { type: 'sent' })
  expect(nextSubmission(sent, { type: 'failed', message: 'x' }).accepted).toBe(sent.accepted)
})

test.each([[{ message: 'not an Error' }], ['text'], [undefined], [new Error('')]])(
  'what is no Error, or has no message, is told in general words (%s)',
  (error) => {
    expect(messageOf(error, true)).toBe('Failed to submit application. Please try again.')
  },
)

test.each([
  [true, 'You seem to be offline. Your answers are kept here: send them again when you are connected.'],
  [false, 'You seem to be offline. Send your answers again when you are connected.'],
])('without a connection nobody is told that answers are kept unless they are (%s)', (isKept, message) => {
  expect(messageOf(new UnreachableError('', { cause: new TypeError('Failed to fetch') }), isKept)).toBe(
    message,
  )
})

test('when it was sent before is shown until somebody types', () => {
  const restored = nextSubmission(idle, { type: 'restored', sentAt: '14:05' })
  expect(restored.sentAt).toBe('14:05')
  expect(nextSubmission(restored, { type: 'typed' }).sentAt).toBeUndefined()
  // Each key would render the form otherwise.
  expect(nextSubmission(idle, { type: 'typed' })).toBe(idle)
})
