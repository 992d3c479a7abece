import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../../../../test/support/server.ts'
import { checkCertificate } from './certificate.ts'

const site = 'https://retreat.example'
const now = new Date('2026-06-01T12:00:00Z')
const validity = (from: string, to: string) => async () => ({ valid_from: from, valid_to: to })

test.each([
  [
    'a new one',
    '2026-05-20',
    '2026-08-18',
    'ok: The certificate of retreat.example ends in 77 days, on 2026-08-18.',
  ],
  [
    'one that was not renewed',
    '2026-03-10',
    '2026-06-08',
    'wrong: The certificate of retreat.example ends in 6 days, on 2026-06-08, and should have been renewed: see the log of certbot or of the proxy.',
  ],
  [
    'a new one for six days',
    '2026-05-31',
    '2026-06-06',
    'ok: The certificate of retreat.example ends in 4 days, on 2026-06-06.',
  ],
  [
    'one for six days that was not renewed',
    '2026-05-27',
    '2026-06-02',
    'wrong: The certificate of retreat.example ends in 0 days, on 2026-06-02, and should have been renewed: see the log of certbot or of the proxy.',
  ],
  [
    'one that ended',
    '2026-03-01',
    '2026-05-30',
    'wrong: The certificate of retreat.example ended on 2026-05-30: renew it.',
  ],
])('a certificate is reported with its end: %s', async (_, from, to, expected) => {
  const { verdict, sentence } = await checkCertificate(site, now, validity(from, to))
  expect(`${verdict}: ${sentence}`).toBe(expected)
})

test('without TLS there is no certificate to check', async () => {
  for (const url of [undefined, 'http://localhost:3000'])
    expect(await checkCertificate(url)).toMatchObject({ verdict: 'not set' })
})

test('the certificate of a running server is read, also if browsers refuse it', async () => {
  const { path } = await temporaryDirectory()
  const [key, cert] = [join(path, 'key'), join(path, 'cert')]
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90']
  execFileSync('openssl', ['req', ...options, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  })
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await checkCertificate(url)).toMatchObject({
    verdict: 'ok',
    sentence: expect.stringMatching(/ ends in (89|90) days, on /) as string,
  })
  await new Promise((done) => server.close(done))
  expect(await checkCertificate(url)).toMatchObject({
    verdict: 'wrong',
    sentence: expect.stringContaining('ECONNREFUSED') as string,
  })
})
