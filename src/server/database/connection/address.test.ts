import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { temporaryDirectory } from '../../../../test/support/server.ts'
import { parseAddress } from './address.ts'

let file: string

beforeAll(async () => {
  const { path } = await temporaryDirectory()
  file = join(path, 'a.pem')
  await writeFile(file, 'PEM')
})

test('a database address is parsed into host, port, user, password and database, which are percent-decoded', () => {
  const { address, description } = parseAddress('postgres://a%40b:p%23%3A%25@db.example:6543/my%20data')
  expect(address).toMatchObject({
    host: 'db.example',
    port: 6543,
    user: 'a@b',
    password: 'p#:%',
    database: 'my data',
    tls: false,
  })
  expect(description).toBe('PostgreSQL at db.example:6543/my data')
})

test("parameters for libpq are not sent to PostgreSQL, and PostgreSQL's own parameters are sent", () => {
  const { address } = parseAddress(
    'postgres://u@h/d?sslmode=require&channel_binding=require&pgbouncer=true&connect_timeout=7&target_session_attrs=read-write&application_name=x&options=-c%20search_path%3Dpublic',
  )
  expect(address.parameters).toEqual({ application_name: 'x', options: '-c search_path=public' })
  expect(address.connectTimeout).toBe(7_000)
})

test('variables of the environment complete an address, and the description names them', () => {
  const environment = { PGUSER: 'ada', PGPASSWORD: 'hunter2', PGDATABASE: 'data', PGOPTIONS: '-c jit=off' }
  const { address, description } = parseAddress('postgres://h', environment)
  expect(address).toMatchObject({
    user: 'ada',
    password: 'hunter2',
    database: 'data',
    parameters: { options: '-c jit=off' },
  })
  expect(description).toBe(
    'PostgreSQL at h/data (with PGUSER, PGPASSWORD, PGDATABASE, PGOPTIONS of the environment)',
  )
  const complete = parseAddress('postgres://u:p@h/d?options=-c%20jit%3Don', environment)
  expect(complete.address).toMatchObject({ user: 'u', password: 'p', parameters: { options: '-c jit=on' } })
  expect(complete.description).toBe('PostgreSQL at h/d')
  const PGPASSFILE = '/home/ada/.pgpass'
  expect(parseAddress('postgres://u:p@h/d', { PGPASSFILE }).description).toBe('PostgreSQL at h/d')
  expect(parseAddress('postgres://u@h/d', { PGPASSFILE }).description).toBe(
    'PostgreSQL at h/d (with PGPASSFILE of the environment)',
  )
})

test('variables that would protect a connection of libpq have no effect, and the description says so', () => {
  const environment = {
    PGSSLROOTCERT: 'a.pem',
    PGSSLMODE: 'verify-full',
    PGOPTIONS: '',
    PGTZ: 'UTC',
    PGHOST: 'x',
  }
  const { address, description } = parseAddress('postgres://u@h/d', environment)
  expect(address).toMatchObject({ host: 'h', tls: false, parameters: {} })
  expect(description).toBe('PostgreSQL at h/d (without PGSSLMODE, PGSSLROOTCERT of the environment)')
})

test('an IPv6 address is one host, with and without a port', () => {
  const { address, description } = parseAddress('postgres://u@[2001:db8::1]:6543/d?sslmode=verify-full')
  expect(address).toMatchObject({ host: '2001:db8::1', port: 6543 })
  expect(description).toBe('PostgreSQL at [2001:db8::1]:6543/d')
  expect(parseAddress('postgres://u@[::1]/d').address).toMatchObject({ host: '::1', port: 5432 })
})

const tlsCase = (name: string, parameters: string) =>
  [name, () => parseAddress(`postgres://u@h/d?${parameters.replaceAll('FILE', file)}`).address.tls] as const

// break: required-tls-skipped
test.each([
  [...tlsCase('nothing', ''), false],
  [...tlsCase('disable', 'sslmode=disable'), false],
  [...tlsCase('allow', 'sslmode=allow'), 'prefer'],
  [...tlsCase('prefer', 'sslmode=prefer'), 'prefer'],
  [...tlsCase('require', 'sslmode=require'), { rejectUnauthorized: false }],
  [...tlsCase('ssl=true', 'ssl=true'), { rejectUnauthorized: false }],
  [...tlsCase('verify-full', 'sslmode=verify-full'), {}],
  [...tlsCase('system', 'sslmode=verify-full&sslrootcert=system'), {}],
  [...tlsCase('only a root certificate', 'sslrootcert=FILE'), { ca: 'PEM' }],
  [
    ...tlsCase('client certificate', 'sslmode=require&sslcert=FILE&sslkey=FILE'),
    { cert: 'PEM', key: 'PEM', rejectUnauthorized: false },
  ],
])('TLS: %s', (_name, read, expected) => {
  expect(read()).toEqual(expected)
})

test('verify-ca and require with a root certificate check the chain of certificates, but not the host name', () => {
  for (const mode of ['verify-ca', 'require']) {
    const { tls } = parseAddress(`postgres://u@h/d?sslmode=${mode}&sslrootcert=${file}`).address
    expect(tls).toMatchObject({ ca: 'PEM', checkServerIdentity: expect.any(Function) as unknown })
    expect(tls).not.toHaveProperty('rejectUnauthorized')
  }
})

test.each([
  ['sslmode=always', /sslmode=always but should have/],
  ['sslmode=verify-ca', /sslmode=verify-ca but no sslrootcert/],
  ['sslmode=require&sslcert=/nowhere.pem', /has sslcert=\/nowhere\.pem, which cannot be read/],
  ['sslrootcert=/nowhere.pem', /has sslrootcert=\/nowhere\.pem, which cannot be read/],
])('%s is refused with a message that does not show the password', (parameters, sentence) => {
  const read = () => parseAddress(`postgres://u:hunter2@h/d?${parameters}`)
  expect(read).toThrow(sentence)
  expect(read).toThrow(/^(?!.*hunter2)/)
})
