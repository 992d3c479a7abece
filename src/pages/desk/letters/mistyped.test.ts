import { expect, test } from 'vitest'

import { isMistyped, meantEmail } from './mistyped.ts'

test.each([
  ['ada@gmial.com', 'ada@gmail.com'],
  ['Ada.L+x@Hotmial.com', 'Ada.L+x@hotmail.com'],
  ['ada@gmail.con', 'ada@gmail.com'],
  ['ada@gmial.con', 'ada@gmail.com'],
  ['ada@acme.con', 'ada@acme.com'],
  ['ada@mail.acme.cmo', 'ada@mail.acme.com'],
  ['ada@acme.ogr', 'ada@acme.org'],
])('%s was meant as %s', (typed, meant) => {
  expect(meantEmail(typed)).toBe(meant)
})

test.each([
  'ada@gmail.com',
  'ada@GMAIL.COM',
  'ada@email.com',
  'ada@ymail.com',
  'ada@mail.com',
  'ada@gmx.de',
  'ada@gmail.co',
  'ada@gmial.example',
  'ada@acme.co',
  'ada@constructor.org',
  'ada@con.com',
  'ada@münchen.example',
  'gmial.com',
  '',
])('%j may be right', (typed) => {
  expect(meantEmail(typed)).toBeUndefined()
})

test.each([
  ['ada@gmial.com', true],
  ['ada@gmail.com', false],
  ['ada@gmailcom', true],
  ['ada.l@acme', true],
  // An organiser who reads blind gets no address.
  [null, false],
])('a letter to %s goes to a surely mistyped address: %s', (to, isSurelyMistyped) => {
  expect(isMistyped({ to })).toBe(isSurelyMistyped)
})
