import { expect, test } from 'vitest'

import type { LetterClaim } from './claims.ts'
import { letterMessage } from './letter-message.ts'

const claim: LetterClaim = {
  kind: 'letter',
  id: '0b7a1c52-6a4e-4f5b-9a55-0d6a3c1f2e4d',
  to: 'ada@example.org',
  subject: 'Your place',
  body: 'Hello Ada',
  attempt: 1,
  uncertain: 0,
  closings: 0,
  age: 0,
  is_added: false,
  added_by: null,
}

test('a letter says why its recipient gets it, and a receipt that somebody else may have entered the address', () => {
  expect(letterMessage(claim, 'Unplugged.').why).toEqual({
    text: 'You receive this email because you applied to Unplugged.',
  })
  expect(letterMessage({ ...claim, kind: 'receipt' }, 'Slow').why).toEqual({
    text: 'You receive this email because somebody, probably you, applied with this address to Slow.',
  })
  expect(letterMessage({ ...claim, is_added: true, added_by: 'Grace' }, 'Slow').why).toEqual({
    text: 'You receive this email because Grace added you as an applicant to Slow.',
  })
})
