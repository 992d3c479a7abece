import { execFileSync } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { send } from '../support/send-application.ts'
import { anApplication } from '../support/form.ts'
import { clientOf, signInByLink } from '../support/sign-in-by-link.ts'
import { startPooler } from '../support/pgbouncer.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { runCommand, startServer, temporaryDirectory } from '../support/server.ts'

let database: TestPostgres

beforeAll(async () => {
  database = await startPostgres()
})

test('applying, deliveries, commands and the sign-in work behind a transaction pooler with DATABASE_POOLER', async () => {
  const pooler = await startPooler(database.url())
  const receiver = await startReceiver()
  const settings = { DATABASE_URL: pooler.url, DATABASE_POOLER: 'transaction' }
  const server = await startServer({ ...settings, WEBHOOK_URL: receiver.origin })
  const applications = Array.from({ length: 100 }, () => anApplication())
  const statuses = await Promise.all(applications.map((application) => send(server.origin, application)))
  expect(new Set(statuses)).toEqual(new Set([201]))
  expect(await send(server.origin, applications[0] ?? anApplication())).toBe(409)

  // A shared connection does not have the rights of its earlier user.
  const forged = await fetch(`${server.origin}/rest/v1/retreat_applications`, {
    method: 'POST',
    headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
    body: JSON.stringify({ ...anApplication(), id: '00000000-0000-4000-8000-000000000000' }),
  })
  expect(await forged.json()).toMatchObject({ code: '42501' })

  const delivered = await receiver.waitFor(applications.length)
  expect(new Set(delivered.map(({ headers }) => headers['webhook-id'])).size).toBe(applications.length)
  const { stdout } = await runCommand(['applications', '--json'], settings)
  expect(stdout.trim().split('\n')).toHaveLength(applications.length)

  // An organiser's rights apply only to the organiser's statements.
  const link = await runCommand(['organisers', '--add', 'ada@example.org'], {
    ...settings,
    SITE_URL: server.origin,
  })
  const { client } = await signInByLink(server.origin, link.stdout)
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_each, index) =>
      (index % 2 ? client : clientOf(server.origin)).rpc('desk_me'),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(
    responses.map((_each, index) => (index % 2 ? 200 : 401)),
  )
  expect((await client.auth.refreshSession()).error).toBeNull()
  expect((await client.auth.updateUser({ password: 'correct horse' })).error).toBeNull()
  const guess = () => client.auth.verifyOtp({ email: 'ada@example.org', token: '000000', type: 'email' })
  expect((await guess()).error).toMatchObject({ code: 'otp_expired' })
  expect(await server.stop()).toBe(0)
})

test('behind a transaction pooler without DATABASE_POOLER a start fails, and one sentence names the setting', async () => {
  const pooler = await startPooler(database.url())
  const { code, stderr } = await runCommand([], { DATABASE_URL: pooler.url })
  expect(code).toBe(1)
  expect(stderr).toMatch(/is a pooler .*: set DATABASE_POOLER=transaction\.\n$/)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})

test('connections to the database are encrypted and verified as `sslmode` in the address says', async () => {
  // The embedded PostgreSQL has no TLS. So the test connects to a pooler in front of it, which accepts only TLS.
  const directory = await temporaryDirectory()
  const key = join(directory.path, 'key.pem')
  const certificate = join(directory.path, 'certificate.pem')
  execFileSync(
    'openssl',
    [
      ['req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-days', '1', '-subj', '/CN=localhost'],
      ['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
    ].flat(),
    { stdio: 'ignore' },
  )
  await chmod(directory.path, 0o755)
  await chmod(key, 0o644)
  const pooler = await startPooler(database.url(), { key, certificate })
  const list = (parameters: string) =>
    runCommand(['applications', '--json'], {
      DATABASE_URL: `${pooler.url}${parameters}`,
      DATABASE_POOLER: 'transaction',
    })

  for (const accepted of [
    '?sslmode=require',
    '?sslmode=prefer',
    `?sslmode=verify-full&sslrootcert=${certificate}`,
    `?sslmode=verify-ca&sslrootcert=${certificate}`,
  ]) {
    const { code, stderr } = await list(accepted)
    expect({ accepted, code }).toEqual({ accepted, code: 0 })
    expect(stderr).toMatch(/^Using PostgreSQL at localhost:\d+\/postgres\.\n$/)
  }
  for (const [refused, reason] of [
    ['', 'SSL required'],
    ['?sslmode=disable', 'SSL required'],
    ['?sslmode=verify-full', 'self-signed certificate'],
    ['?sslmode=always', 'sslmode=always'],
    ['?sslmode=verify-full&sslrootcert=/nowhere.pem', '/nowhere.pem'],
  ] as const) {
    const { code, stderr } = await list(refused)
    expect({ refused, code }).toEqual({ refused, code: 1 })
    expect(stderr).toContain(reason)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }
  // The certificate does not have this name, and only `verify-full` checks the name.
  const urlByAddress = pooler.url.replace('localhost', '127.0.0.1')
  const byAddress = (mode: string) =>
    runCommand(['applications', '--json'], {
      DATABASE_URL: `${urlByAddress}?sslmode=${mode}&sslrootcert=${certificate}`,
      DATABASE_POOLER: 'transaction',
    })
  expect((await byAddress('verify-ca')).code).toBe(0)
  const { code, stderr } = await byAddress('verify-full')
  expect(code).toBe(1)
  expect(stderr).toContain('cannot be used')
})
