import { expect, test } from 'vitest'

import type { AuthError } from '@supabase/auth-js'

import { foreignServerMessage } from '../kit/Problem.tsx'
import { sentenceOfFactor, sentenceOfPassword } from './account-sentences.ts'
import { sentenceOfSignIn } from './sentences.ts'

/** An error of the sign-in's client. */
const refusal = (code: string | undefined, message = 'no', name = 'AuthApiError', status = 400) =>
  ({ name, code, message, status }) as unknown as AuthError

const unanswered = (status?: number) => refusal(undefined, '', 'AuthRetryableFetchError', status ?? 0)

const functions = { sentenceOfSignIn, sentenceOfFactor, sentenceOfPassword }

test.each(Object.entries(functions))('%s says what to check if no response came', (_name, sentenceOf) => {
  expect(sentenceOf(unanswered())).toBe(
    'The server could not be reached. Please check your connection, and try again.',
  )
  expect(sentenceOf(unanswered(503))).toBe('The server could not respond. Please try again in a moment.')
  expect(sentenceOf(refusal(undefined, 'Hello', 'AuthUnknownError'))).toBe(foreignServerMessage)
})

test.each(Object.entries(functions))(
  "%s passes on the server's message for an unknown error",
  (_name, sentenceOf) => {
    expect(sentenceOf(refusal('new_code', 'The moon is full'))).toBe('The server said: The moon is full')
    expect(sentenceOf(refusal(undefined, ''))).toBe('That did not work. Please try again.')
  },
)

test('an error code can have a different sentence for a second factor or a password', () => {
  const ofAddress = 'This email address cannot be used. Please check it.'
  expect(sentenceOfSignIn(refusal('validation_failed'))).toBe(ofAddress)
  expect(sentenceOfFactor(refusal('validation_failed'))).toBe(ofAddress)
  expect(sentenceOfPassword(refusal('validation_failed'))).toMatch(/^This password is too long\./)
  expect(sentenceOfPassword(refusal('insufficient_aal'))).toBe(sentenceOfFactor(refusal('insufficient_aal')))
  expect(sentenceOfFactor(refusal('insufficient_aal'))).toMatch(/^Please sign out, and sign in again/)
  expect(sentenceOfSignIn(refusal('insufficient_aal'))).toBe('The server said: no')
})

test("the project's own message explains a weak password", () => {
  expect(sentenceOfPassword(refusal('weak_password', 'At least 12 characters.'))).toBe(
    'Please choose another password. The server said: At least 12 characters.',
  )
})

test.each([
  ['you can only request this after 12 seconds', 'Please wait 12 seconds before you ask for another.'],
  ['after 1 second', 'Please wait 1 second before you ask for another.'],
  ['too many', 'Too many emails were requested. Please wait an hour, and try again.'],
])('after too many emails the sentence says how long to wait: %s', (message, sentence) => {
  expect(sentenceOfSignIn(refusal('over_email_send_rate_limit', message))).toContain(sentence)
})
