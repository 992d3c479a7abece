import { expect, test } from 'vitest'

import { idle, messageOf, nextSubmission } from './submission.ts'

test('before the first send nothing is under way and nothing is said', () => {
  expect(idle).toEqual({ status: 'idle', sending: false, message: '', accepted: 0 })
})

test('a new send clears the old message at once', () => {
  const failed = nextSubmission(idle, { type: 'failed', error: new Error('no') })
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
  expect(nextSubmission(sent, { type: 'failed', error: 'x' }).accepted).toBe(sent.accepted)
})

test.each([[{ message: 'not an Error' }], ['text'], [undefined], [new Error('')]])(
  'what is no Error, or has no message, is told in general words (%s)',
  (error) => {
    expect(messageOf(error)).toBe('Failed to submit application. Please try again.')
  },
)
