import { setTimeout as wait } from 'node:timers/promises'

import { hashPassword } from '../../../src/server/auth/accounts/passwords.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { send } from '../../support/send-application.ts'
import { signInOrganiser } from '../../support/desk.ts'
import { anApplication } from '../../support/form.ts'
import { startRepeating, type RepeatedWork } from '../../support/load.ts'
import { unusedIpAddress } from '../../support/sign-in-server.ts'
import { outcomeOf, type Call, type Outcome } from './verdicts.ts'

/** A signed-in organiser. */
interface CallingOrganiser {
  email: string
  id: string
  token: string
  /** Only one organiser has blind reading on, so a test detects a response that went to the wrong organiser. */
  isBlind: boolean
}

/** A load that repeatedly makes each kind of call that visitors and organisers make. */
export interface CallLoad extends RepeatedWork {
  /** The finished calls, in the order in which they ended. Tests remove the calls that they have judged. */
  calls: Call[]
  kinds: readonly string[]
  /** The email addresses of the acknowledged applications. */
  acknowledged: string[]
}

/** The fields of a response's body that the checks read. */
interface Body {
  id?: string
  email?: string
  is_open?: boolean
  access_token?: string
  user?: { email?: string }
  applications?: { id?: string; email?: string }[]
}

const password = 'correct horse battery staple'
/** The length of a page of the list. */
const pageLength = 50
/** The timeout of a call, in milliseconds. */
const callTimeout = 20_000
/** Milliseconds between two sign-ins. They are slowed down because each creates a session. */
const signInPause = 200
/** Milliseconds for which a client backs off after a dropped connection. */
const backOff = 20

/**
 * Adds two organisers, and more applications than a page of the list has.
 *
 * @param sql Connections of the schema's owner.
 */
export async function addOrganisers(sql: Sql, origin: string): Promise<[CallingOrganiser, CallingOrganiser]> {
  await Promise.all(Array.from({ length: pageLength + 10 }, () => send(origin, anApplication())))
  const person = async (email: string, isBlind: boolean): Promise<CallingOrganiser> => {
    const client = await signInOrganiser(sql, origin, email)
    // A cheap hash, so that a sign-in waits only for the database.
    await sql`update auth.users set encrypted_password = ${await hashPassword(password, 4)} where email = ${email}`
    const { error } = await client.rpc('desk_set_blind', { blind: isBlind })
    if (error) throw error
    const { data } = await client.auth.getSession()
    return { email, isBlind, id: data.session?.user.id ?? '', token: data.session?.access_token ?? '' }
  }
  return Promise.all([person('ada@example.org', false), person('bob@example.org', true)])
}

/** Calls a server as these organisers and as visitors, until `end` is called. */
export function startCalls(
  origin: string,
  [ada, bob]: readonly [CallingOrganiser, CallingOrganiser],
): CallLoad {
  const calls: Call[] = []
  const acknowledged: string[] = []

  const call = async (path: string, token: string | undefined, body: unknown) => {
    const response = await fetch(origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        apikey: 'public-anon-key',
        'x-forwarded-for': unusedIpAddress(),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(callTimeout),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  const read = async (
    path: string,
    { token, body }: { token?: string; body?: unknown },
    isRight: (body: Body) => boolean,
  ) => {
    const { status, text } = await call(path, token, body)
    const result = status === 200 ? (JSON.parse(text) as Body | null) : null
    return outcomeOf(status, text, result !== null && isRight(result))
  }
  const list = ({ token, isBlind }: CallingOrganiser) =>
    read('/rest/v1/rpc/desk_list', { token, body: {} }, ({ applications = [] }) => {
      const isTheirs = applications.every(
        ({ id, email }) => id !== undefined && (email === undefined) === isBlind,
      )
      return isTheirs && applications.length === pageLength
    })
  const me = ({ token, email }: CallingOrganiser) =>
    read('/rest/v1/rpc/desk_me', { token, body: {} }, (body) => body.email === email)
  const user = ({ token, id, email }: CallingOrganiser) =>
    read('/auth/v1/user', { token }, (body) => body.id === id && body.email === email)
  const door = () => read('/rest/v1/rpc/door_is_open', { body: {} }, (body) => body.is_open === true)

  let [next, other] = [ada, bob]
  const signIn = async () => {
    const person = next
    ;[next, other] = [other, next]
    const body = { email: person.email, password }
    return read('/auth/v1/token?grant_type=password', { body }, ({ access_token: token, user: account }) => {
      if (token === undefined || account?.email !== person.email) return false
      // Uses the new token, because a token expires after an hour.
      person.token = token
      return true
    })
  }

  let application = anApplication()
  let isRetry = false
  /** Sends an application. If it is not acknowledged, the next call sends it again, as a visitor does. */
  const insert = async () => {
    const successStatuses = isRetry ? [201, 409] : [201]
    isRetry = true
    const { status, text } = await call('/rest/v1/retreat_applications', undefined, application)
    const isStored = successStatuses.includes(status)
    if (isStored) {
      acknowledged.push(application.email)
      application = anApplication()
      isRetry = false
    }
    return outcomeOf(status, text, isStored)
  }

  const kinds: Record<string, () => Promise<Outcome>> = {
    'desk_list, with names': () => list(ada),
    'desk_list, blind': () => list(bob),
    'desk_me of ada': () => me(ada),
    'desk_me of bob': () => me(bob),
    user: () => user(ada),
    insert,
    'sign-in': signIn,
    door_is_open: door,
  }
  const tasks = Object.entries(kinds).map(([kind, task]) => async () => {
    const began = performance.now()
    // `fetch` throws a TypeError for a dropped connection.
    const outcome = await task().catch((error: unknown) =>
      error instanceof TypeError ? 'dropped' : { wrong: String(error) },
    )
    calls.push({ kind, began, ended: performance.now(), outcome })
    if (outcome === 'dropped') await wait(backOff)
    else if (task === signIn && outcome === 'right') await wait(signInPause)
  })
  return { calls, kinds: Object.keys(kinds), acknowledged, ...startRepeating(tasks) }
}
