/**
 * What the server is measured against: a Fastify route that does one insert and nothing else, without
 * validation, headers, limits or log. `TABLE` is where it inserts.
 */
import fastify from 'fastify'
import postgres from 'postgres'

import { columns, type Application } from '../src/application/application.ts'

const { DATA_DIR = '', TABLE = 'retreat_applications' } = process.env
const sql = postgres({
  host: DATA_DIR,
  user: 'postgres',
  database: 'postgres',
  max: 10,
  fetch_types: false,
  connection: { role: 'anon' },
})
const app = fastify()
app.post<{ Body: Application }>('/rest/v1/retreat_applications', async ({ body }, reply) => {
  await sql`insert into ${sql(TABLE)} ${sql(body, columns)}`
  return reply.code(201).send()
})
console.log(`is ready at ${await app.listen({ host: '127.0.0.1', port: 0 })}/`)
