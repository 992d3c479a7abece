/**
 * The baseline for the server: a Fastify route with one insert, and without validation, headers, limits or log.
 */
import fastify from 'fastify'
import { Pool } from 'pg'

import { columns, type Application } from '../src/application/application.ts'

const { DATA_DIR = '' } = process.env
const pool = new Pool({
  host: DATA_DIR,
  user: 'postgres',
  database: 'postgres',
  max: 10,
  options: '-c role=anon',
})
const placeholders = columns.map((_, index) => `$${index + 1}`)
const insert = {
  name: 'insert',
  text: `insert into retreat_applications (${columns.join()}) values (${placeholders.join()})`,
}
const app = fastify()
app.post<{ Body: Application }>('/rest/v1/retreat_applications', async ({ body }, reply) => {
  await pool.query({ ...insert, values: columns.map((column) => body[column]) })
  return reply.code(201).send()
})
console.log(`is ready at ${await app.listen({ host: '127.0.0.1', port: 0 })}/`)
