import { expect, test } from 'vitest'

import { startMailServer, startTrickle, type MailServer } from '../../../../testing/mail-server.ts'
import { mailServerAt } from '../../../../testing/sign-in.ts'
import { createMailer } from './mailer.ts'
import { message } from './messages.ts'

const settings = (server: MailServer, host = '127.0.0.1') => ({ ...mailServerAt(server.port), host })
/** This machine too, by a name that does not say so. */
const elsewhere = '127.1'

const mail = message('magiclink', {
  to: 'ada@example.org',
  code: '123456',
  link: 'https://example.org/?a=1&b=2',
})

test('a mail has the code in its subject, a text, a plain HTML part and no address but its own', async () => {
  const server = await startMailServer()
  await createMailer(settings(server)).send(mail)
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
})

test('what a person wrote stays text in a mail', () => {
  const written = message('email_change', {
    to: 'ada@example.org',
    code: '123456',
    change: { from: 'ada@example.org', to: 'a<b>&"@example.org' },
  })
  expect(written.html).toContain('a&lt;b&gt;&amp;&quot;@example.org')
})

test('user and password are shown to a server that asks for them', async () => {
  const server = await startMailServer({ user: { name: 'ada', password: 'p@ss/w%rd' } })
  await createMailer({ ...settings(server), user: 'ada', password: 'p@ss/w%rd' }).send(mail)
  expect(server.received).toMatchObject([{ user: 'ada' }])
  const wrong = createMailer({ ...settings(server), user: 'ada', password: 'wrong' }).send(mail)
  await expect(wrong).rejects.toMatchObject({ code: 'EAUTH' })
})

test('on this machine a mail is encrypted where the server can, whoever signed its certificate', async () => {
  const server = await startMailServer({ startTls: true })
  await createMailer(settings(server)).send(mail)
  expect(server.received).toMatchObject([{ secure: true }])
})

test('to another machine nothing is sent without TLS, nor to a certificate that nobody signed', async () => {
  const [plain, unsigned] = [await startMailServer(), await startMailServer({ startTls: true })]
  await expect(createMailer(settings(plain, elsewhere)).send(mail)).rejects.toMatchObject({ code: 'ETLS' })
  await expect(createMailer(settings(unsigned, elsewhere)).send(mail)).rejects.toMatchObject({
    code: 'ESOCKET',
  })
  expect([...plain.received, ...unsigned.received]).toEqual([])
})

test('a server that refuses the address is an error', async () => {
  const server = await startMailServer({ refuses: true })
  await expect(createMailer(settings(server)).send(mail)).rejects.toThrow(
    /^the mail server at 127\.0\.0\.1:\d+ did not take a mail \(EENVELOPE, RCPT TO, 550\)$/,
  )
  // It is not there: why is the machine's to say.
  await server.close()
  await expect(createMailer(settings(server)).send(mail)).rejects.toThrow(
    /^the mail server at 127\.0\.0\.1:\d+ did not take a mail \(ESOCKET, CONN\): connect ECONNREFUSED 127/,
  )
})

test('a server that never ends its reply has a mail for a limited time, though it is never silent', async () => {
  const server = await startTrickle()
  const sending = createMailer(mailServerAt(server.port), 300).send(mail)
  await expect(sending).rejects.toThrow(
    `the mail server at 127.0.0.1:${server.port} did not take a mail (ETIMEDOUT): its replies took longer than 0.3 s`,
  )
  await server.left
})
