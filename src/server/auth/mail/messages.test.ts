import { expect, test } from 'vitest'

import { startMailServer } from '../../../../test/support/mail-server.ts'
import { mailServerAt } from '../../../../test/support/sign-in-server.ts'
import { defaultLook } from '../../../design/look.ts'
import { compose } from '../../mail/compose.ts'
import { send } from '../../mail/send.ts'
import { changeMessage, message } from './messages.ts'

test('an email has the code in its subject, a text part, an HTML part, and no Reply-To', async () => {
  const server = await startMailServer()
  const mail = message('magiclink', {
    to: 'ada@example.org',
    code: '123456',
    link: 'https://example.org/?a=1&b=2',
  })('Unplugged.')
  await send(mail, mailServerAt(server.port), defaultLook)
  const [received] = server.received
  expect(received).toMatchObject({
    from: 'hello@example.org',
    to: ['ada@example.org'],
    secure: false,
    subject: '123456 is your code for Unplugged.',
    link: 'https://example.org/?a=1&b=2',
  })
  expect(received?.text).toMatch(/^From: "?Unplugged\."? <hello@example\.org>$/m)
  expect(received?.text).toMatch(/^Content-Type: multipart\/alternative/m)
  expect(received?.text).toContain('<a href="https://example.org/?a=1&amp;b=2"')
  expect(received?.text).toMatch(/^Auto-Submitted: auto-generated$/im)
  expect(received?.text).not.toMatch(/^(X-Mailer|Reply-To)/im)
})

test('each email has its own Message-ID', () => {
  const mail = () => message('reauthentication', { to: 'ada@example.org', code: '123456' })('Unplugged.')
  expect(mail().id).not.toBe(mail().id)
})

test('in HTML, the code stands by itself and the link is a button; nothing of the text is said twice', () => {
  const mail = message('magiclink', { to: 'ada@example.org', code: '123456', link: 'https://example.org/' })(
    'Slow',
  )
  expect(mail.paragraphs).toEqual([
    { code: '123456', text: 'The code works once, within 10 minutes.' },
    { text: 'Or open this link, once:', link: 'https://example.org/', button: 'Sign in' },
  ])
  expect(mail.why).toEqual({
    text: 'Somebody, probably you, wants to sign in to Slow with this address. If it was not you, ignore this email: nobody gets in without it. Do not share the code with anybody.',
  })
})

test('a sign-in email with a long link has less than 10 kB', async () => {
  const link = `https://retreat.example.org/auth/v1/verify?token=pkce_${'0a'.repeat(32)}&type=magiclink&redirect_to=${'a'.repeat(200)}`
  const mail = message('magiclink', { to: 'ada@example.org', code: '123456', link })('Unplugged.')
  const { bytes } = await compose(mail, { name: 'Unplugged.', address: 'hello@example.org' }, defaultLook)
  expect(bytes.length).toBeLessThan(10_000)
})

test('an email has the title that the operator set, with a full stop where it ends a sentence', () => {
  const written = message('recovery', { to: 'ada@example.org', code: '123456' })('Slow & <Steady>')
  expect(written.subject).toBe('123456 is your code for Slow & <Steady>')
  expect(written.body).toMatch(/^Somebody, probably you, wants to set a new password for Slow & <Steady>\.\n/)
  const withQuestionMark = message('email_change', { to: 'ada@example.org', link: 'https://example.org' })(
    'Offline?',
  )
  expect(withQuestionMark.subject).toBe('Your link for Offline?')
  expect(withQuestionMark.body).toMatch(
    /^Somebody, probably you, wants to use another address for Offline\?\n/,
  )
  expect(changeMessage('ada@example.org', 'password')('Slow').subject).toBe(
    'Your account for Slow was changed',
  )
})
