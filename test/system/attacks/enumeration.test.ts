import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { hashPassword } from '../../../src/server/auth/accounts/passwords.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { recordStatements } from '../../support/sql.ts'
import { mailServerAt, startSignIn, type SignInServer } from '../../support/sign-in-server.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

const password = 'correct horse battery'
const hash = hashPassword(password)

let strangerCount = 0
/** Returns an address as long as an organiser's, so that lengths reveal nothing. */
const strangerAddress = () => {
  strangerCount += 1
  return `stranger-${String(strangerCount).padStart(2, '0')}@example.org`
}

/** Everything that a response reveals, except the time of day. */
async function observableResponse(pendingResponse: Promise<Response>) {
  const response = await pendingResponse
  const text = await response.text()
  const seconds = Number(/after (\d+) seconds/.exec(text)?.[1] ?? 1)
  // The seconds differ because two requests never arrive at the same moment.
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => name !== 'date'),
    text: text.replace(/after \d+ seconds/, 'after N seconds'),
  }
}

type Ask = (call: SignInServer['call'], email: string) => Promise<Response>

const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }

/** The calls in which a stranger can name an email address, with the status of the first response for a known address. */
const callsWithAddress: Record<string, { ask: Ask; status: number; sendsEmail: boolean }> = {
  'otp that may create an account': {
    ask: (call, email) => call('POST', 'otp', { email, create_user: true }),
    status: 200,
    sendsEmail: true,
  },
  'otp that may create no account': {
    ask: (call, email) => call('POST', 'otp', { email, create_user: false }),
    status: 200,
    sendsEmail: true,
  },
  'otp with PKCE and a redirect': {
    ask: (call, email) =>
      call('POST', 'otp?redirect_to=http://localhost:1/', { email, create_user: false, ...challenge }),
    status: 200,
    sendsEmail: true,
  },
  'otp in capitals': {
    ask: (call, email) => call('POST', 'otp', { email: email.toUpperCase() }),
    status: 200,
    sendsEmail: true,
  },
  recover: { ask: (call, email) => call('POST', 'recover', { email }), status: 200, sendsEmail: true },
  'resend of a sign-up': {
    ask: (call, email) => call('POST', 'resend', { type: 'signup', email }),
    status: 200,
    sendsEmail: false,
  },
  'resend of a change of address': {
    ask: (call, email) => call('POST', 'resend', { type: 'email_change', email }),
    status: 200,
    sendsEmail: false,
  },
  'sign-up': {
    ask: (call, email) => call('POST', 'signup', { email, password }),
    status: 422,
    sendsEmail: false,
  },
  password: {
    ask: (call, email) => call('POST', 'token?grant_type=password', { email, password: 'not the one' }),
    status: 400,
    sendsEmail: false,
  },
  ...Object.fromEntries(
    ['email', 'magiclink', 'recovery', 'signup', 'invite', 'email_change', 'nonsense'].map((type) => [
      `verify by a code of type ${type}`,
      {
        // No code has five digits.
        ask: ((call, email) => call('POST', 'verify', { type, email, token: '12345' })) satisfies Ask,
        status: 403,
        sendsEmail: false,
      },
    ]),
  ),
}

/** The states of an account, each with the steps to it. */
const states: Record<string, (email: string) => Promise<unknown>> = {
  'a new account': async () => {},
  'an account with a code': (email) =>
    server.call('POST', 'otp', { email }).then(() => allowAnotherEmail(email)),
  'an account whose code is invalid after wrong guesses': async (email) => {
    await server.call('POST', 'otp', { email })
    await allowAnotherEmail(email)
    for (let guess = 0; guess < 6; guess += 1) {
      await server.call('POST', 'verify', { type: 'email', email, token: '12345' })
    }
  },
  'an account with a password, a session and a second factor': async (email) => {
    await server.signedIn(email)
    await server.database.owner`
      update auth.users set encrypted_password = ${await hash} where email = ${email}`
    await server.database.owner`
      insert into auth.mfa_factors (user_id, status, secret)
      select id, 'verified', 'JBSWY3DPEHPK3PXP' from auth.users where email = ${email}`
  },
  'an account with an unconfirmed new address': async (email) => {
    const { client } = await server.signedIn(email)
    const { error } = await client.auth.updateUser({ email: `organiser-${randomUUID()}@example.org` })
    if (error) throw error
  },
  'an account with ten emails in the last hour': (email) => server.database.owner`
    insert into private.account_counts (user_id, what, count)
    select id, 'mails', 10 from auth.users where email = ${email}`,
}

/** Waits for an account's email, and allows another email at once by dating the last request back by an hour. */
async function allowAnotherEmail(email: string) {
  await server.mail.waitFor(1, email)
  await server.database.owner`
    update private.mail_requests set requested_at = requested_at - interval '1 hour'
    where address_hash = sha256(${email}::text::bytea)`
}

/** Collects the responses for known and for unknown addresses: the first, and a second within the minute. */
async function responsesForBoth(call: SignInServer['call'], state: (email: string) => Promise<unknown>) {
  const compare = async ([what, { ask, status, sendsEmail }]: [
    string,
    (typeof callsWithAddress)[string],
  ]) => {
    const email = await server.organiser()
    await state(email)
    const stranger = strangerAddress()
    const known = [
      what,
      await observableResponse(ask(call, email)),
      await observableResponse(ask(call, email)),
    ]
    const unknown = [
      what,
      await observableResponse(ask(call, stranger)),
      await observableResponse(ask(call, stranger)),
    ]
    // If a call failed for every address, its responses would be equal and prove nothing.
    expect(known).toMatchObject([what, { status }, { status: sendsEmail ? 429 : status }])
    return { known, unknown }
  }
  const all = await Promise.all(Object.entries(callsWithAddress).map(compare))
  return { known: all.map(({ known }) => known), unknown: all.map(({ unknown }) => unknown) }
}

test.each(Object.entries(states))(
  'the responses for %s and for no account are equal',
  async (_what, state) => {
    const freshServer = await server.another()
    const { known, unknown } = await responsesForBoth(freshServer.call, state)
    expect(unknown).toEqual(known)
  },
)

// break: account-queried-before-response
test.each(Object.keys(callsWithAddress).filter((what) => /^(otp|recover|resend)/.test(what)))(
  'the response to %s is sent before the account is queried',
  async (what) => {
    const email = await server.organiser()
    const { client } = await server.signedIn(email)
    await client.auth.updateUser({ email: `organiser-${randomUUID()}@example.org` })
    const freshServer = await server.another()
    const response = await server.database.owner.begin(async (transaction) => {
      await transaction`select from auth.users where email = ${email} for update`
      // A query for the account would wait here forever.
      return callsWithAddress[what]?.ask(freshServer.call, email)
    })
    expect(response?.status).toBe(200)
    await freshServer.close()
  },
)

test.each(Object.entries(states).filter(([state]) => /with a (code|password)/.test(state)))(
  'before the response, a call for %s sends the same queries as for no account',
  async (_what, state) => {
    const queries: string[] = []
    const { signIn, ...database } = server.database
    const freshServer = await server.another({}, { ...database, signIn: recordStatements(signIn, queries) })
    const queriesOf = async (ask: Ask, email: string) => {
      queries.length = 0
      await ask(freshServer.call, email)
      // For an unknown address, the table of decoys replaces the table of codes.
      return queries.map((text) => text.replace('"private"."decoys"', '"auth"."one_time_tokens"'))
    }
    const prepared = Object.entries(callsWithAddress).map(async ([what, { ask }]) => {
      const email = await server.organiser()
      await state(email)
      return { what, ask, email }
    })
    const queryingCalls: string[] = []
    for (const { what, ask, email } of await Promise.all(prepared)) {
      const known = await queriesOf(ask, email)
      expect({ what, queries: await queriesOf(ask, strangerAddress()) }).toEqual({ what, queries: known })
      if (known.length > 0) queryingCalls.push(what)
    }
    expect(queryingCalls).toEqual(
      expect.arrayContaining(['password', 'recover', 'verify by a code of type email']),
    )
  },
)

/** Functions that start a mail server that fails. Each returns its port, and a function that closes it. */
const failingMailServers: Record<string, () => Promise<{ port: number; close(): unknown }>> = {
  'refuses everybody': () => startMailServer({ refusesRecipients: true }),
  'does not exist': async () => {
    const closedServer = await startSilentServer()
    await closedServer.close()
    return { port: closedServer.port, close: () => {} }
  },
  'never responds': startSilentServer,
}

/** A server that accepts connections and never responds. */
async function startSilentServer() {
  const sockets = new Set<Socket>()
  const silentServer = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  silentServer.listen(0, '127.0.0.1')
  await once(silentServer, 'listening')
  return {
    port: (silentServer.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise<void>((resolve) => silentServer.close(() => resolve()))
    },
  }
}

test.each(Object.entries(failingMailServers))(
  'with a mail server that %s, responses for known and unknown addresses are equal',
  async (_how, start) => {
    const mail = await start()
    const freshServer = await server.another({
      mailServer: mailServerAt(mail.port),
    })
    const { known, unknown } = await responsesForBoth(freshServer.call, async () => {})
    expect(unknown).toEqual(known)
    // The mail server closes first, because our server waits for pending emails.
    await mail.close()
    await freshServer.close()
  },
)

test('without a mail server known and unknown addresses get the same refusal, also when they try again', async () => {
  const freshServer = await server.another({ mailServer: undefined })
  const email = await server.organiser()
  for (const path of ['otp', 'recover', 'otp']) {
    const known = await observableResponse(freshServer.call('POST', path, { email }))
    expect(known.text).toContain('email_provider_disabled')
    expect(await observableResponse(freshServer.call('POST', path, { email: strangerAddress() }))).toEqual(
      known,
    )
  }
})

test('an account gets at most ten emails an hour from all servers together, and a stranger gets none', async () => {
  const email = await server.organiser()
  const stranger = strangerAddress()
  const { owner } = server.database
  const askBoth = async ({ call }: Pick<SignInServer, 'call'>) => {
    for (const address of [email, stranger]) {
      expect((await call('POST', 'otp', { email: address })).status).toBe(200)
    }
    await owner`delete from private.mail_requests`
  }
  const [first, second] = [await server.another(), await server.another()]
  for (let mail = 1; mail <= 12; mail += 1) await askBoth(mail % 2 ? first : second)
  // Waits for the pending emails.
  await Promise.all([first.close(), second.close()])
  const received = () => server.mail.received.flatMap(({ to }) => to)
  expect(received().filter((to) => to === email)).toHaveLength(10)
  await owner`
    update private.account_counts set began = began - interval '3601 seconds'
    where user_id = (select id from auth.users where email = ${email})`
  const later = await server.another()
  await askBoth(later)
  await later.close()
  expect(received().filter((to) => to === email)).toHaveLength(11)
  expect(received()).not.toContain(stranger)
})

test('no email was sent to an address without an account', () => {
  expect(server.mail.received.length).toBeGreaterThan(0)
  expect(server.mail.received.flatMap(({ to }) => to).filter((to) => !to.startsWith('organiser-'))).toEqual(
    [],
  )
})

test('the number of remembered addresses is limited, and each is forgotten after a minute', async () => {
  const { owner } = server.database
  const freshServer = await server.another()
  // After five runs on a connection, PostgreSQL keeps the plan of a prepared statement. A plan for few rows must not stay.
  await owner`vacuum analyze private.mail_requests`
  for (let count = 0; count < 40; count += 1)
    await freshServer.call('POST', 'otp', { email: strangerAddress() })
  await owner`
    insert into private.mail_requests (address_hash, requested_at)
    select sha256(number::text::bytea), now() - make_interval(secs => number / 2000.0)
    from generate_series(1, 60000) as number`
  expect((await freshServer.call('POST', 'otp', { email: strangerAddress() })).status).toBe(200)
  // Waits for the work after the response.
  await freshServer.close()
  const rememberedCount = async () => {
    const [row] = await owner<{ count: number }[]>`select count(*)::int as count from private.mail_requests`
    return row?.count
  }
  // If another server is deleting the same rows, this server skips them, and the count falls a moment later.
  await expect.poll(rememberedCount, { timeout: 30_000 }).toBeLessThanOrEqual(20_001)
  await owner`update private.mail_requests set requested_at = requested_at - interval '61 seconds'`
  const later = await server.another()
  await later.call('POST', 'otp', { email: strangerAddress() })
  await later.close()
  await expect.poll(rememberedCount, { timeout: 30_000 }).toBe(1)
})
