import { expect, test } from 'vitest'

import {
  applicationFrom,
  columns,
  isDuplicate,
  isComplete,
  maxLengthOf,
  webhookBody,
  type Application,
} from './application.ts'

test('an application is read from a sent form as it was typed', () => {
  const form = new FormData()
  form.set('first_name', ' Ada ')
  form.set('reason', 'one\r\ntwo')
  form.set('paid_solution', 'custom')
  form.set('custom_solution', 'A cabin')
  form.set('consent', 'true')
  expect(applicationFrom(form)).toEqual({
    first_name: ' Ada ',
    last_name: '',
    email: '',
    phone: '',
    linkedin: '',
    company: '',
    paid_solution: 'custom',
    custom_solution: 'A cabin',
    team_size: '',
    reason: 'one\ntwo',
    consent: true,
  })
})

// break: any-value-is-consent
test.each(['false', 'on', '', '1', 'TRUE'])('consent is what the checkbox sends, and not "%s"', (consent) => {
  expect(applicationFrom(new URLSearchParams({ consent })).consent).toBe(false)
  expect(applicationFrom([['consent', true]]).consent).toBe(false)
})

test('a form without its checkbox gives no consent, and unknown fields are left out', () => {
  const application = applicationFrom(new URLSearchParams('first_name=Ada&id=1&__proto__=x'))
  expect(application.consent).toBe(false)
  expect(Object.keys(application)).toEqual(columns)
})

test('the webhook gets the eleven fields in camel case and consent as text', () => {
  const application = applicationFrom(
    new URLSearchParams(
      'first_name=A&last_name=B&email=C&phone=D&linkedin=E&company=F&paid_solution=not&custom_solution=G&team_size=10%2B&reason=%C3%A9+%26&consent=true',
    ),
  )
  expect(webhookBody(application).toString()).toBe(
    'firstName=A&lastName=B&email=C&phone=D&linkedin=E&company=F&paidSolution=not&customSolution=G&teamSize=10%2B&reason=%C3%A9+%26&consent=true',
  )
})

const whole: Application = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@example.org',
  phone: '+44 20 7946 0000',
  linkedin: 'in/ada',
  company: 'Engines',
  paid_solution: 'custom',
  custom_solution: 'A cabin',
  team_size: '1-3',
  reason: 'Rest',
  consent: true,
}

test('a complete application may leave the choices and the custom solution blank, and may use the full length of each answer', () => {
  const changes: object[] = [
    {},
    { custom_solution: '' },
    { paid_solution: '', team_size: '' },
    { reason: 'x'.repeat(100_000), custom_solution: 'x'.repeat(100_000) },
    { email: 'x'.repeat(10_000) },
    { reason: '𝒳 is whole' },
  ]
  expect(changes.filter((changed) => !isComplete({ ...whole, ...changed }))).toEqual([])
})

test.each<[string, object[]]>([
  ['lacks an answer', columns.map((column) => ({ [column]: undefined }))],
  [
    'leaves a required answer blank',
    columns.filter((column) => !/consent|solution|team/.test(column)).map((column) => ({ [column]: '' })),
  ],
  ['gives no consent', [{ consent: false }, { consent: 'true' }]],
  ['has a number in place of a text', [{ first_name: 1 }]],
  ['has an unknown choice', [{ paid_solution: 'gold' }, { paid_solution: 'toString' }]],
  ['has an unknown team size', [{ team_size: '1000' }, { team_size: 'toString' }]],
  ['has characters that PostgreSQL cannot store', [{ reason: 'a\0b' }, { reason: 'half of a \ud835' }]],
  [
    'is too long',
    [
      { reason: 'x'.repeat(100_001) },
      { custom_solution: 'x'.repeat(100_001) },
      { email: 'x'.repeat(10_001) },
    ],
  ],
])('an application that %s is not complete', (_what, changes) => {
  expect(changes.filter((changed) => isComplete({ ...whole, ...changed }))).toEqual([])
})

test('the two long form answers may be ten times as long as the others', () => {
  const long = columns.filter((column) => maxLengthOf(column) === 100_000)
  expect(long).toEqual(['custom_solution', 'reason'])
  expect(columns.filter((column) => maxLengthOf(column) === 10_000)).toHaveLength(9)
})

test('only the error of the unique index, which its message names, means a duplicate', () => {
  const message = 'duplicate key value violates unique constraint "retreat_applications_once"'
  expect(isDuplicate({ code: '23505', message })).toBe(true)
  expect(isDuplicate({ code: '23505', message: message.replace('_once', '_pkey') })).toBe(false)
  expect(isDuplicate({ code: '23514', message })).toBe(false)
})
