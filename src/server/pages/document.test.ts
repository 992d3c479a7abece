import fastify from 'fastify'
import { beforeAll, expect, test } from 'vitest'

import { prepareDocument, sendDocument } from './document.ts'

const app = fastify()

beforeAll(async () => {
  const html = '<p>A document</p>'.repeat(100)
  const document = await prepareDocument({ html, policy: "default-src 'none'", beginnings: [200] })
  app.get('/', (request, reply) => sendDocument(request, reply, document))
})

const get = (headers: Record<string, string>) => app.inject({ url: '/', headers })
const etagOf = async (encoding: string) =>
  String((await get({ 'accept-encoding': encoding })).headers['etag'])
const encodings = ['br', 'gzip', 'identity']

test('each encoding of a document has an ETag of its own', async () => {
  expect(new Set(await Promise.all(encodings.map(etagOf))).size).toBe(3)
})

test.each(encodings)('a document that is cached in the encoding %s is not sent again', async (encoding) => {
  const etag = await etagOf(encoding)
  // A proxy that compresses makes an ETag weak.
  for (const known of [etag, `"other", ${etag}`, `W/${etag}`]) {
    const { statusCode, headers, body } = await get({ 'accept-encoding': encoding, 'if-none-match': known })
    expect([statusCode, headers['etag'], headers['vary'], body]).toEqual([304, etag, 'accept-encoding', ''])
  }
  for (const other of encodings.filter((name) => name !== encoding)) {
    const response = await get({ 'accept-encoding': other, 'if-none-match': etag })
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-encoding']).toBe(other === 'identity' ? undefined : other)
  }
})
