import Fastify from 'fastify'
import { expect, test, vi } from 'vitest'

import { startMailServer } from '../../../../test/support/mail-server.ts'
import { freePort } from '../../../../test/support/ports.ts'
import { mailServerAt } from '../../../../test/support/sign-in-server.ts'
import { defaultLook } from '../../../design/look.ts'
import { message } from './messages.ts'
import { createOutgoing } from './outgoing.ts'

/**
 * Sends emails to these addresses after a response. Returns the log, and what was recorded of the mail server.
 *
 * @param delays Milliseconds before further tries.
 * @param beforeEnd What to wait for before the end.
 */
async function sendTo(
  port: number,
  addresses: string[],
  { delays, beforeEnd }: { delays?: number[]; beforeEnd?: () => Promise<unknown> } = {},
) {
  const lines: object[] = []
  const recorded: boolean[] = []
  const write = (details: object, text: string) => {
    lines.push({ ...details, text })
  }
  const outgoing = createOutgoing(
    mailServerAt(port),
    () => defaultLook,
    { warn: write, error: write },
    async (isAccepted) => {
      recorded.push(isAccepted)
    },
    0,
  )
  const app = Fastify()
  app.get('/', (_request, reply) => {
    outgoing.after(
      reply,
      async () => addresses.map((to) => message('reauthentication', { to, code: '123456' })),
      delays,
    )
    return {}
  })
  expect((await app.inject('/')).statusCode).toBe(200)
  await beforeEnd?.()
  await outgoing.end()
  return { lines, recorded }
}

const addresses = ['ada@example.org', 'grace@example.org']

test('emails are sent in order, and nothing about them is logged', async () => {
  const server = await startMailServer()
  expect(await sendTo(server.port, addresses)).toEqual({ lines: [], recorded: [true, true] })
  expect(server.received.map(({ to: [to] }) => to)).toEqual(addresses)
})

test('a refused email is logged without the reply, later emails are not sent, and the state of the mail server is not recorded', async () => {
  const server = await startMailServer({
    refusalAt: (at, address) =>
      at === 'RCPT TO' && address.startsWith('ada') ? { code: 550, text: `no ${address}` } : undefined,
  })
  const host = { host: '127.0.0.1', port: server.port }
  expect(await sendTo(server.port, addresses)).toEqual({
    lines: [{ ...host, outcome: 'failed', code: 550, text: 'an email was not sent' }],
    recorded: [],
  })
  expect(server.received).toEqual([])
})

test.each([
  ['deferred', { code: 451, text: 'ada@example.org: later' }, { code: 451 }, []],
  ['cut off', 'break off', { code: null, problem: 'The connection broke.' }, [false]],
] as const)(
  'an email that is %s is logged without the mail server\u2019s reply',
  async (_how, refusal, details, recorded) => {
    const server = await startMailServer({ refusalAt: (at) => (at === 'DATA' ? refusal : undefined) })
    expect(await sendTo(server.port, ['ada@example.org'])).toEqual({
      lines: [
        {
          host: '127.0.0.1',
          port: server.port,
          outcome: 'waiting',
          ...details,
          text: 'an email was not sent',
        },
      ],
      recorded,
    })
  },
)

test('a deferred email is tried again after the delays, and a stop ends that', async () => {
  let tries = 0
  const server = await startMailServer({
    refusalAt: (at) =>
      at === 'RCPT TO' && (tries += 1) < 3 ? { code: 451, text: 'Greylisted.' } : undefined,
  })
  const { lines } = await sendTo(server.port, ['ada@example.org'], {
    delays: [1, 1],
    beforeEnd: () => server.waitFor(1, 'ada@example.org'),
  })
  expect(lines).toMatchObject([{ outcome: 'waiting' }, { outcome: 'waiting' }])
  tries = 0
  const stopped = await sendTo(server.port, ['ada@example.org'], {
    delays: [3_600_000],
    beforeEnd: () => vi.waitFor(() => expect(tries).toBe(1)),
  })
  expect(stopped.lines).toMatchObject([
    { outcome: 'waiting', text: 'an email was not sent' },
    { err: { name: 'AbortError' }, text: 'an email was not sent' },
  ])
  expect([tries, server.received.length]).toEqual([1, 1])
})

test("if the mail server cannot be reached, the log has the operating system's message", async () => {
  const port = await freePort()
  const { lines, recorded } = await sendTo(port, addresses)
  expect(lines).toEqual([
    {
      host: '127.0.0.1',
      port,
      outcome: 'unavailable',
      code: null,
      problem: 'The mail server could not be reached (ESOCKET).',
      cause: expect.stringContaining('ECONNREFUSED') as string,
      text: 'an email was not sent',
    },
  ])
  expect(recorded).toEqual([false])
})
