import { expect, test } from 'vitest'

import { startMailServer } from '../../../../testing/mail-server.ts'
import { mailServerAt } from '../../../../testing/sign-in.ts'
import { send } from '../../mail/send.ts'
import { message } from './messages.ts'

test('an email has the code in its subject, a text part, an HTML part, and no Reply-To', async () => {
  const server = await startMailServer()
  const mail = message('magiclink', {
    to: 'ada@example.org',
    code: '123456',
    link: 'https://example.org/?a=1&b=2',
  })
  await send(mail, mailServerAt(server.port))
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
  expect(received?.text).toContain('<a href="https://example.org/?a=1&amp;b=2">')
  expect(received?.text).toMatch(/^Auto-Submitted: auto-generated$/im)
  expect(received?.text).not.toMatch(/^(X-Mailer|Reply-To)/im)
})

test('each email has its own Message-ID', () => {
  const mail = () => message('reauthentication', { to: 'ada@example.org', code: '123456' })
  expect(mail().id).not.toBe(mail().id)
})

test('an address is escaped in the HTML of an email', () => {
  const written = message('email_change', {
    to: 'ada@example.org',
    code: '123456',
    change: { from: 'ada@example.org', to: 'a<b>&"@example.org' },
  })
  expect(written.html).toContain('a&lt;b&gt;&amp;&quot;@example.org')
})
