import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { beforeAll, expect, test } from 'vitest'

import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { dataDirectory, runCommand, startServer } from '../../support/server.ts'
import { secretOf, verifyLink } from '../../support/sign-in-links.ts'
import { callTo, codeOf, readResponse } from '../../support/sign-in-server.ts'

const user = { name: 'MARK-user', password: 'MARK-mail-password' }

let directory: Awaited<ReturnType<typeof dataDirectory>>
let mail: MailServer
let settings: Record<string, string>

beforeAll(async () => {
  directory = await dataDirectory()
  mail = await startMailServer({ user })
  settings = { DATA_DIR: directory.path, TRUST_PROXY: '1', ...mailSettings(mail.port) }
})

function mailSettings(port: number) {
  const SMTP_URL = `smtp://${user.name}:${user.password}@127.0.0.1:${port}`
  return { SMTP_URL, MAIL_FROM: 'hello@example.org' }
}

/** Adds an organiser. Returns the printed link. */
async function addOrganiser(email: string) {
  const { stdout } = await runCommand(['organisers', '--add', email], settings)
  return stdout.trim()
}

interface Tokens {
  access_token: string
  refresh_token: string
}

test('wrong codes are counted across a restart, and an emailed link, a session and the keys survive it', async () => {
  const email = 'restarted@example.org'
  const first = await startServer(settings)
  const call = callTo(first.origin)
  const secret = secretOf(await addOrganiser(email))
  const signedIn = await readResponse(call('POST', 'verify', { type: 'magiclink', token_hash: secret }))
  const { access_token, refresh_token } = signedIn.body as Tokens
  await call('POST', 'otp', { email })
  const [{ code, link } = { code: '', link: '' }] = await mail.waitFor(1, email)
  const wrong = ['000000', '111111', '222222', '333333', '444444', '555555'].filter((each) => each !== code)
  const guess = (callServer: typeof call, token: string) =>
    readResponse(callServer('POST', 'verify', { type: 'email', email, token }))
  for (const token of wrong.slice(0, 3)) expect((await guess(call, token)).status).toBe(403)
  const { keys } = (await readResponse(call('GET', '.well-known/jwks.json'))).body as { keys: unknown }
  await first.stop()

  const second = await startServer(settings)
  const callSecond = callTo(second.origin)
  for (const token of wrong.slice(3, 5)) expect((await guess(callSecond, token)).status).toBe(403)
  expect((await guess(callSecond, code)).status).toBe(403)
  expect((await callSecond('POST', 'otp', { email })).status).toBe(429)
  const { search } = new URL(verifyLink(link))
  const opened = await callSecond('GET', `verify${search}`)
  expect(opened.headers.get('location')).toContain('#access_token=')
  const bearer = { authorization: `Bearer ${access_token}` }
  expect((await callSecond('GET', 'user', undefined, bearer)).status).toBe(200)
  expect((await callSecond('POST', 'token?grant_type=refresh_token', { refresh_token })).status).toBe(200)
  expect((await readResponse(callSecond('GET', '.well-known/jwks.json'))).body).toEqual({ keys })
})

// break: sign-in-log-quotes-mail-server
test('no log contains a code, token, secret, password or address of an organiser, after successes and failures', async () => {
  const email = 'mark-organiser@example.org'
  const newEmail = 'mark-changed@example.org'
  const passwords = ['MARK-password', 'MARK-wrong-password']
  const secrets: string[] = [email, newEmail, user.name, user.password, ...passwords, 'mark-']
  let output = ''

  const server = await startServer(settings)
  const call = callTo(server.origin)
  const tokensOf = async (pendingResponse: Promise<Response>) => {
    const { status, body } = await readResponse(pendingResponse)
    expect(status).toBe(200)
    const { access_token, refresh_token } = body as Tokens
    secrets.push(access_token, refresh_token)
    return { refresh_token, headers: { authorization: `Bearer ${access_token}` } }
  }
  const mailsTo = async (to: string, number: number) => {
    const emails = await mail.waitFor(number, to)
    for (const { code, link } of emails) {
      // The notice of a change has neither a code nor a link.
      if (code !== '') secrets.push(code)
      if (link !== '') secrets.push(secretOf(link))
    }
    return emails.at(-1) ?? { code: '', link: '' }
  }

  // Opens the operator's link twice, as in a browser.
  const link = await addOrganiser(email)
  secrets.push(secretOf(link))
  const path = `verify${new URL(verifyLink(link)).search}`
  const opened = await call('GET', path)
  const fragment = new URLSearchParams(new URL(opened.headers.get('location') ?? '').hash.slice(1))
  secrets.push(fragment.get('access_token') ?? '', fragment.get('refresh_token') ?? '')
  await call('GET', path)

  // Sends a wrong code, the right code, and the right code again.
  await call('POST', 'otp?redirect_to=https://mark-evil.example/', { email })
  await call('POST', 'otp', { email })
  const { code } = await mailsTo(email, 1)
  await call('POST', 'verify', { type: 'email', email, token: `${code}0` })
  const session = await tokensOf(call('POST', 'verify', { type: 'email', email, token: code }))
  await call('POST', 'verify', { type: 'email', email, token: code })
  const { headers } = session

  // Refreshes the session, sets and uses a password, asks for a confirming code, and changes the address.
  const refreshed = await tokensOf(
    call('POST', 'token?grant_type=refresh_token', { refresh_token: session.refresh_token }),
  )
  await call('POST', 'token?grant_type=refresh_token', { refresh_token: `${refreshed.refresh_token}A` })
  await call('PUT', 'user', { password: passwords[0] }, headers)
  await tokensOf(call('POST', 'token?grant_type=password', { email, password: passwords[0] }))
  await call('POST', 'token?grant_type=password', { email, password: passwords[1] })
  await call('GET', 'reauthenticate', undefined, headers)
  await mailsTo(email, 2)
  await call('PUT', 'user', { email: newEmail, data: { name: 'MARK-name', other: 'MARK\u0000' } }, headers)
  await call('PUT', 'user', { email: newEmail, data: { name: 'MARK-name' } }, headers)
  const toOldAddress = await mailsTo(email, 3)
  await mailsTo(newEmail, 1)
  await call('POST', 'verify', { type: 'email_change', email, token: toOldAddress.code })

  // Sets up and uses a second factor.
  const enrolment = { factor_type: 'totp', friendly_name: 'MARK-factor', issuer: 'MARK-issuer' }
  const enrolled = await readResponse(call('POST', 'factors', enrolment, headers))
  // The second enrolment is refused, because the name of the factor is taken.
  await call('POST', 'factors', enrolment, headers)
  const factor = enrolled.body as { id: string; totp: { secret: string; uri: string } }
  const factorCode = codeOf(factor.totp.secret)
  secrets.push(factor.totp.secret, factor.totp.uri, factorCode)
  const from = { ...headers, 'x-forwarded-for': '192.0.2.1' }
  const challenge = await readResponse(call('POST', `factors/${factor.id}/challenge`, {}, from))
  const { id: challenge_id } = challenge.body as { id: string }
  await call('POST', `factors/${factor.id}/verify`, { challenge_id, code: 'mark-0' }, from)
  await tokensOf(call('POST', `factors/${factor.id}/verify`, { challenge_id, code: factorCode }, from))
  await call('POST', `factors/${factor.id}/verify`, { challenge_id, code: factorCode }, from)

  // Sends requests that are refused before the server's handler runs, and requests that fail in it.
  await call('GET', `verify?token=mark-token&type=mark-type&redirect_to=http://localhost/mark-target`)
  await call('GET', `mark-path/mark-token?apikey=mark-key`)
  await call('POST', 'verify', { type: 'email', email: 'mark-\u0000@example.org', token: 'mark-token' })
  await call('GET', 'user', undefined, { authorization: 'Bearer mark-a.mark-b.mark-c' })
  await call('POST', 'factors', { factor_type: 'totp', friendly_name: 'mark-\u0000' }, headers)
  await fetch(`${server.origin}/rest/v1/rpc/desk_me`, {
    method: 'POST',
    headers: { apikey: 'public-anon-key', ...headers },
  })
  await call('POST', 'logout', undefined, headers)
  await server.stop()
  output += server.output()

  // Uses a mail server that refuses, and one that does not exist.
  const refusing = await startMailServer({ user, refusesRecipients: true })
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  for (const [index, each] of [refusing.port, port].entries()) {
    const freshServer = await startServer({ ...settings, ...mailSettings(each) })
    const address = `mark-failing-${index}@example.org`
    await addOrganiser(address)
    await callTo(freshServer.origin)('POST', 'otp', { email: address })
    await freshServer.waitForOutput('an email was not sent')
    await freshServer.stop()
    output += freshServer.output()
  }
  await refusing.close()

  // Checks that the log has these requests.
  for (const route of ['otp', 'verify', 'token', 'user', 'factors/:id/verify', 'logout']) {
    expect(output).toContain(`"route":"/auth/v1/${route}"`)
  }
  const log = output + (await readFile(join(directory.path, 'postgres.log'), 'utf8'))
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(3)
    expect(log.toLowerCase(), `for ${secret}`).not.toContain(secret.toLowerCase())
    expect(log, `for ${secret}`).not.toContain(encodeURIComponent(secret))
  }
})
