import { expect, test } from 'vitest'

import { defaultLook } from '../../design/look.ts'
import { startMailServer, startTrickle, type MailServer } from '../../../test/support/mail-server.ts'
import { mailServerAt } from '../../../test/support/sign-in-server.ts'
import type { Message } from './compose.ts'
import { send as sendWith } from './send.ts'

const settingsFor = (server: MailServer, host = '127.0.0.1') => ({ ...mailServerAt(server.port), host })
const send = (message: Message, to: Parameters<typeof sendWith>[1], timeout?: number) =>
  sendWith(message, to, defaultLook, timeout)
/** An address of this machine that counts as another machine's, because it is written in an unusual way. */
const elsewhere = '127.1'

const mail: Message = {
  id: '0b7a1c52-6a4e-4f5b-9a55-0d6a3c1f2e4d',
  to: 'ada@example.org',
  subject: 'Hello',
  body: 'Hello Ada',
  why: { text: 'You applied.' },
}

test('user and password are sent to a mail server that asks for them, and the result says if it does not accept them', async () => {
  const server = await startMailServer({ user: { name: 'ada', password: 'p@ss/w%rd' } })
  const login = { ...settingsFor(server), user: 'ada', password: 'p@ss/w%rd' }
  expect(await send(mail, login)).toEqual({ result: 'done', code: 250 })
  expect(server.received).toMatchObject([{ user: 'ada' }])
  expect(await send(mail, { ...login, password: 'wrong' })).toEqual({
    result: 'unavailable',
    code: 535,
    problem: 'The mail server did not accept the user and password (EAUTH, AUTH PLAIN, 535).',
    cause: undefined,
    isClosing: false,
  })
})

test('an email to a mail server on this machine is encrypted if the server offers TLS, even with an untrusted certificate', async () => {
  const server = await startMailServer({ startTls: true })
  await send(mail, settingsFor(server))
  expect(server.received).toMatchObject([{ secure: true }])
})

// break: email-unencrypted
test('nothing is sent to another machine without TLS, or with an untrusted certificate', async () => {
  const [plain, unsigned] = [await startMailServer(), await startMailServer({ startTls: true })]
  expect(await send(mail, settingsFor(plain, elsewhere))).toMatchObject({
    result: 'unavailable',
    problem: expect.stringContaining('could not be encrypted (ETLS') as string,
  })
  expect(await send(mail, settingsFor(unsigned, elsewhere))).toMatchObject({
    result: 'unavailable',
    problem: expect.stringContaining('(ESOCKET') as string,
  })
  expect([...plain.received, ...unsigned.received]).toEqual([])
})

test("the result has the mail server's reply to a refused email, or the operating system's message if no server is reached", async () => {
  const server = await startMailServer({ refusesRecipients: true })
  expect(await send(mail, settingsFor(server))).toEqual({
    result: 'failed',
    code: 550,
    reply: '550 no such user ada@example.org',
  })
  await server.close()
  expect(await send(mail, settingsFor(server))).toMatchObject({
    result: 'unavailable',
    problem: 'The mail server could not be reached (ESOCKET).',
    cause: expect.stringContaining('connect ECONNREFUSED 127.0.0.1') as string,
  })
})

test('sending times out even while the mail server slowly sends parts of its reply', async () => {
  const server = await startTrickle()
  expect(await send(mail, mailServerAt(server.port), 300)).toMatchObject({
    result: 'unavailable',
    code: null,
    problem: 'The mail server did not answer in time.',
  })
  await server.disconnected
})

test('the connection is closed after the email', async () => {
  const server = await startMailServer()
  await send(mail, settingsFor(server))
  // This timeout is shorter than that of an idle connection.
  await expect.poll(() => server.connections(), { timeout: 10_000 }).toBe(0)
})
