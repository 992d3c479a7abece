import { expect, test } from 'vitest'

import { applicationFrom, columns, webhookBody } from './application.ts'

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

test.each(['false', 'on', '', '1', 'TRUE'])('consent is what the checkbox sends, and not "%s"', (consent) => {
  expect(applicationFrom(new URLSearchParams({ consent })).consent).toBe(false)
  expect(applicationFrom([['consent', true]]).consent).toBe(false)
})

test('a form without its checkbox gives no consent, and what is no answer is left out', () => {
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
