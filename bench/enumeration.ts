import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'

import { addOrganiser } from '../src/server/auth/manage-organisers.ts'
import { hashPassword } from '../src/server/auth/accounts/passwords.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { dataDirectory, startServer } from '../test/support/server.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { median, printTable, checkGuarantee } from './table.ts'
import { connectToEmbedded } from '../test/support/sql.ts'

const rounds = 200
/**
 * Milliseconds after which no work is pending. The server starts to send an email within a quarter of a second, and SMTP takes a
 * tenth.
 */
const quietAfter = 1_000
/** The limits of the share of pairs in which the known address is slower. By chance alone, 200 pairs stay within them. */
const [minSlower, maxSlower] = [0.25, 0.75]
const password = 'correct horse battery'

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>
type SignInRequest = (call: Call, email: string) => Promise<unknown>

const otp: SignInRequest = (call, email) => call('POST', 'otp', { email, create_user: false })
const guess: SignInRequest = (call, email) => call('POST', 'verify', { type: 'email', email, token: '12345' })
const signIn: SignInRequest = (call, email) =>
  call('POST', 'token?grant_type=password', { email, password: 'not the one' })
const fourTimes =
  (request: SignInRequest): SignInRequest =>
  (call, email) =>
    Promise.all(Array.from({ length: 4 }, () => request(call, email)))

let addressCount = 0

/** Calls the sign-in, each time from an unused IP address. */
function callTo(origin: string): Call {
  return async (method, path, body) => {
    addressCount += 1
    const response = await fetch(`${origin}/auth/v1/${path}`, {
      method,
      headers: {
        apikey: 'public-anon-key',
        'x-forwarded-for': `10.${(addressCount >> 16) & 255}.${(addressCount >> 8) & 255}.${addressCount & 255}`,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.text()
  }
}

interface Attempt {
  /** A call for each address before the measurement, which begins when the work of these calls is done. */
  before?: SignInRequest
  /** A call that starts directly before the measured call, and may still be pending while that is measured. */
  beside?: SignInRequest
  request: SignInRequest
}

const attempts: Record<string, Attempt> = {
  otp: { request: otp },
  'otp that may make an account': {
    request: (call, email) => call('POST', 'otp', { email, create_user: true }),
  },
  recover: { request: (call, email) => call('POST', 'recover', { email }) },
  'otp, again within the minute': { before: otp, request: otp },
  resend: { request: (call, email) => call('POST', 'resend', { type: 'signup', email }) },
  'verify, no code was sent': { request: guess },
  'verify, a code was sent': { before: otp, request: guess },
  'verify, four at once, no code was sent': { request: fourTimes(guess) },
  'verify, four at once, a code was sent': { before: otp, request: fourTimes(guess) },
  password: { request: signIn },
  'settings, right after an otp': { beside: otp, request: (call) => call('GET', 'settings') },
  'verify of an unknown address, right after an otp': {
    beside: otp,
    request: (call) => guess(call, 'nobody@example.org'),
  },
}

/** Measures whether response times reveal that an account exists, with known and unknown email addresses in turns. */
export async function benchEnumeration(): Promise<void> {
  const directory = await dataDirectory()
  const mail = await startMailServer()
  // Accepts connections and sends nothing.
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const settings = (port: number) => ({
    DATA_DIR: directory.path,
    TRUST_PROXY: '1',
    MAIL_FROM: 'hello@example.org',
    SMTP_URL: `smtp://127.0.0.1:${port}`,
  })
  let organiserCount = 0

  for (const [name, port, chosenAttempts] of [
    ['with a mail server', mail.port, Object.keys(attempts)],
    ['with a mail server that never replies', (silent.address() as AddressInfo).port, ['otp', 'recover']],
  ] as const) {
    const server = await startServer(settings(port))
    const sql = connectToEmbedded(directory.path)
    const call = callTo(server.origin)
    const hash = await hashPassword(password)
    const rows: string[][] = []
    for (const what of chosenAttempts) {
      const { before, beside, request } = attempts[what] ?? { request: otp }
      const times: [known: number[], unknown: number[]] = [[], []]
      const pairs: [known: string, unknown: string][] = []
      // The first rounds are a warm-up.
      for (let round = -5; round < rounds; round += 1) {
        organiserCount += 1
        // Both addresses have the same length.
        const [known, unknown] = [
          `organiser-${organiserCount}@example.org`,
          `stranger--${organiserCount}@example.org`,
        ]
        await addOrganiser(sql, known)
        await sql`update auth.users set encrypted_password = ${hash} where email = ${known}`
        await before?.(call, known)
        await before?.(call, unknown)
        pairs.push([known, unknown])
      }
      await wait(quietAfter)
      for (const [round, pair] of pairs.entries()) {
        for (const side of round % 2 ? [0, 1] : [1, 0]) {
          const email = pair[side] ?? ''
          // Warms up caches, which are cold after a pause.
          await guess(call, 'nobody@example.org')
          const pending = beside?.(call, email)
          const started = performance.now()
          await request(call, email)
          const duration = performance.now() - started
          await pending
          if (round >= 5) times[side === 0 ? 0 : 1].push(duration)
        }
      }
      await wait(quietAfter)
      const [known, unknown] = times
      const slower = known.filter((time, index) => time > (unknown[index] ?? 0)).length / known.length
      checkGuarantee(
        `${name}, ${what}: a known address is slower in half of the pairs, and not in ${Math.round(slower * 100)} %`,
        slower >= minSlower && slower <= maxSlower,
      )
      rows.push([
        what,
        median(known).toFixed(2),
        median(unknown).toFixed(2),
        median(known.map((time, index) => time - (unknown[index] ?? 0))).toFixed(2),
        `${Math.round(slower * 100)} %`,
      ])
    }
    printTable(
      `Known and unknown addresses, ${name} (${rounds} of each, in turns)`,
      ['', 'known, ms', 'unknown, ms', 'difference, ms', 'pairs with the known one slower'],
      rows,
    )
    await sql.end()
    await server.stop()
  }
  silent.close()
  await mail.close()
  await directory.remove()
}
