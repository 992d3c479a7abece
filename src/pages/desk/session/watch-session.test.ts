import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, test, vi } from 'vitest'

import { atTestEnd } from '../../../../test/support/cleanup.ts'
import { createSession, SignedOutError } from '../../../client/session.ts'
import type { Me } from '../data/useDesk.tsx'
import { watchSession, type WatchedSession } from './watch-session.ts'

beforeEach(() => void vi.stubGlobal('navigator', { onLine: true }))

/** An unsigned token that the client can read. */
function tokenOf(account: string) {
  const parts = [
    { alg: 'ES256', typ: 'JWT' },
    { sub: account, exp: 4_102_444_800, aal: 'aal1' },
  ]
  return [...parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')), 'sign'].join('.')
}

const accountIn = ({ headers }: IncomingMessage) =>
  (
    JSON.parse(Buffer.from(headers.authorization?.split('.')[1] ?? '', 'base64url').toString()) as {
      sub: string
    }
  ).sub

/** A desk whose decisions get the status 503, so that they are retried; `decided` lists the accounts that sent them. */
async function deskWithFailingDecisions() {
  const decided: string[] = []
  const server = createServer((request, response) => {
    const account = accountIn(request)
    response.setHeader('content-type', 'application/json')
    if (request.url?.endsWith('desk_decide')) {
      decided.push(account)
      response.writeHead(503).end()
      server.emit('decided')
    } else if (request.url?.startsWith('/auth/v1/logout')) response.writeHead(204).end()
    else response.end(JSON.stringify({ id: account, email: `${account}@example.org` }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atTestEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const signIn = createSession({ url, anonKey: 'public-anon-key' })
  const session = watchSession(signIn, () => {})
  return {
    decided,
    session,
    nextDecision: () => once(server, 'decided'),
    signInAs: async (account: string) => {
      await (await signIn.auth()).setSession({ access_token: tokenOf(account), refresh_token: 'next' })
      return untilSignedIn(session, account)
    },
  }
}

/** Resolves when this account is signed in at the desk. */
function untilSignedIn(session: WatchedSession, account: string): Promise<Me> {
  return new Promise((resolve) => {
    const check = () => {
      const state = session.state()
      if (state.step === 'in' && state.account === account) resolve(state)
    }
    session.subscribe(check)
    check()
  })
}

const decision = { act: crypto.randomUUID(), decisions: [] }

test.each(['signs out', 'is replaced by another organiser'])(
  'when an organiser %s, their pending call ends and is not sent with another token',
  async (how) => {
    const { decided, nextDecision, signInAs, session } = await deskWithFailingDecisions()
    const ada = await signInAs('ada')
    const sent = nextDecision()
    const ended = ada.callDesk('desk_decide', decision).catch((error: unknown) => error)
    await sent
    // The call now waits for its retry.
    if (how === 'signs out') await session.signOut('local')
    await signInAs('bob')
    expect(await ended).toBeInstanceOf(SignedOutError)
    // A later call of the first organiser is not sent either.
    await expect(ada.callDesk('desk_decide', decision)).rejects.toThrow(SignedOutError)
    expect(decided).toEqual(['ada'])
    expect(session.state()).toMatchObject({ step: 'in', email: 'bob@example.org' })
  },
)
