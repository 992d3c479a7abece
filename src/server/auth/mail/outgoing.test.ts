import Fastify from 'fastify'
import { expect, test } from 'vitest'

import { startMailServer } from '../../../../testing/mail-server.ts'
import { freePort } from '../../../../testing/ports.ts'
import { mailServerAt } from '../../../../testing/sign-in.ts'
import { message } from './messages.ts'
import { createOutgoing } from './outgoing.ts'

/** Sends emails to these after a response; returns the log, and what was recorded of the mail server. */
async function sent(port: number, addresses: string[]) {
  const lines: object[] = []
  const recorded: boolean[] = []
  const write = (details: object, text: string) => {
    lines.push({ ...details, text })
  }
  const outgoing = createOutgoing(mailServerAt(port), { warn: write, error: write }, async (isAccepted) => {
    recorded.push(isAccepted)
  })
  const app = Fastify()
  app.get('/', (_request, reply) => {
    outgoing.after(reply, async () =>
      addresses.map((to) => message('reauthentication', { to, code: '123456' })),
    )
    return {}
  })
  expect((await app.inject('/')).statusCode).toBe(200)
  await outgoing.end()
  return { lines, recorded }
}

const addresses = ['ada@example.org', 'grace@example.org']

test('emails are sent one at a time, and nothing of them is logged', async () => {
  const server = await startMailServer()
  expect(await sent(server.port, addresses)).toEqual({ lines: [], recorded: [true, true] })
  expect(server.received.map(({ to: [to] }) => to)).toEqual(addresses)
})

test('a refused email is logged only by its code, ends those after it and does not count against the server', async () => {
  const server = await startMailServer({
    refusalAt: (at, address) =>
      at === 'RCPT TO' && address.startsWith('ada') ? { code: 550, text: `no ${address}` } : undefined,
  })
  const host = { host: '127.0.0.1', port: server.port }
  expect(await sent(server.port, addresses)).toEqual({
    lines: [{ ...host, outcome: 'refused', code: 550, text: 'a mail was not sent' }],
    recorded: [],
  })
  expect(server.received).toEqual([])
})

test.each([
  ['refused for now', { code: 451, text: 'ada@example.org: later' }, { code: 451 }, []],
  ['not answered', 'break off', { code: null, problem: 'The connection broke.' }, [false]],
] as const)(
  'a mail that is %s is logged without the mail server\u2019s words',
  async (_how, answer, details, recorded) => {
    const server = await startMailServer({ refusalAt: (at) => (at === 'DATA' ? answer : undefined) })
    expect(await sent(server.port, ['ada@example.org'])).toEqual({
      lines: [
        { host: '127.0.0.1', port: server.port, outcome: 'retry', ...details, text: 'a mail was not sent' },
      ],
      recorded,
    })
  },
)

test("for a mail server that cannot be reached the log has the operating system's message", async () => {
  const port = await freePort()
  const { lines, recorded } = await sent(port, addresses)
  expect(lines).toEqual([
    {
      host: '127.0.0.1',
      port,
      outcome: 'unavailable',
      code: null,
      problem: 'The mail server could not be reached (ESOCKET).',
      cause: expect.stringContaining('ECONNREFUSED') as string,
      text: 'a mail was not sent',
    },
  ])
  expect(recorded).toEqual([false])
})
