import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { table } from '../../application/application.ts'
import { isTableColumn, type SentRows, type TableColumn } from '../database/insert.ts'
import { databaseError, InterfaceError } from './errors.ts'

/** What the data interface acts with. */
export interface DataInterfaceOptions {
  /** The public key that a caller has to show. */
  anonKey: string
  /** Stores rows as a visitor may; gives how many. */
  insert: (request: FastifyRequest, rows: SentRows) => Promise<number>
}

/**
 * The insert of PostgREST's interface, for one table: `POST /rest/v1/retreat_applications`, answered as
 * PostgREST 13 does, so that its clients work unchanged. Everything else of that interface is refused here,
 * before it reaches the database.
 *
 * @see https://docs.postgrest.org/en/v13/references/api/tables_views.html#insert
 */
export async function dataInterface(app: FastifyInstance, { anonKey, insert }: DataInterfaceOptions) {
  // The body goes to PostgreSQL as it came; whether it is JSON is asked below, where columns are read.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.addHook('onRequest', (request, _reply, done) => {
    checkKey(request, anonKey)
    refuseOtherSchema(request)
    done()
  })
  app.setErrorHandler((error, request, reply) => answerError(databaseError(error), request, reply))
  app.setNotFoundHandler((request, reply) => answerError(notFound(request), request, reply))

  app.post(`/${table}`, async (request, reply) => {
    const preferences = String(request.headers.prefer ?? '')
    refuseReading(preferences)
    const rows = sentRows(request, /\bmissing=default\b/.test(preferences))
    const count = rows.count === 0 ? 0 : await insert(request, rows)
    const applied: string[] = preferences.match(/\b(return=minimal|missing=default|count=exact)\b/g) ?? []
    if (applied.length > 0) void reply.header('preference-applied', applied.join(', '))
    void reply.header('content-range', applied.includes('count=exact') ? `*/${count}` : '*/*')
    return reply.code(201).send()
  })

  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
    url: `/${table}`,
    handler: () => {
      throw permissionDenied()
    },
  })
}

function answerError(error: InterfaceError, request: FastifyRequest, reply: FastifyReply) {
  if (error.status >= 500) request.log.error({ err: error.cause ?? error }, 'the data interface failed')
  const { code, message, details, hint, retryAfter } = error
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
  if (error.status === 401) void reply.header('www-authenticate', 'Bearer')
  void reply.code(error.status).type('application/json; charset=utf-8')
  return reply.send(JSON.stringify({ code, message, details, hint }))
}

function checkKey({ headers }: FastifyRequest, anonKey: string) {
  const bearer = /^Bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1]
  const shown = [headers['apikey'], bearer].filter((key) => key !== undefined)
  if (shown.length === 0) {
    throw new InterfaceError(
      401,
      'PGRST302',
      'No API key found in request',
      null,
      'Send the public key in the apikey header.',
    )
  }
  if (shown.some((key) => key !== anonKey)) {
    throw new InterfaceError(
      401,
      'PGRST301',
      'Invalid API key',
      null,
      'Send the public key in the apikey header.',
    )
  }
}

/** Answering with the row, or comparing with the rows that are there, would need the right to read. */
function refuseReading(preferences: string) {
  if (/\breturn=(representation|headers-only)\b|\bresolution=/.test(preferences)) throw permissionDenied()
}

function refuseOtherSchema({ method, headers }: FastifyRequest) {
  const writes = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
  const schema = String(headers[writes ? 'content-profile' : 'accept-profile'] ?? 'public')
  if (schema === 'public') return
  throw new InterfaceError(
    406,
    'PGRST106',
    `Invalid schema: ${schema}`,
    null,
    'Only the following schemas are exposed: public',
  )
}

function permissionDenied() {
  return new InterfaceError(401, '42501', `permission denied for table ${table}`)
}

function notFound({ method, url }: FastifyRequest) {
  const [, resource = ''] = /^\/rest\/v1\/([^/?]+)\/?(?:\?|$)/.exec(url) ?? []
  if (resource === table) return new InterfaceError(405, 'PGRST117', `Unsupported HTTP method: ${method}`)
  const [, called] = /^\/rest\/v1\/rpc\/([^/?]+)/.exec(url) ?? []
  if (called !== undefined) {
    return new InterfaceError(
      404,
      'PGRST202',
      `Could not find the function public.${called} in the schema cache`,
    )
  }
  if (resource === '') return new InterfaceError(404, 'PGRST125', 'Invalid path specified in request URL')
  return new InterfaceError(
    404,
    'PGRST205',
    `Could not find the table 'public.${resource}' in the schema cache`,
  )
}

/** What a request asks to insert. */
function sentRows(request: FastifyRequest, missingAsDefault: boolean): SentRows {
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new InterfaceError(400, 'PGRST102', `Content-Type not acceptable: ${type}`)
  }
  const json = decode(request.body)
  const named = columnsParameter(request)
  if (named !== undefined) {
    // Which columns to take is said: PostgreSQL alone reads the body.
    const isArray = !json.trimStart().startsWith('{')
    const count = isArray ? json.split('{').length - 1 || 1 : 1
    return { json, isArray, count, columns: known(named), missingAsDefault }
  }
  const value = parse(json)
  const isArray = Array.isArray(value)
  // PostgREST takes a body that is neither object nor array for no rows at all.
  const rows: unknown[] = isArray ? value : isObject(value) ? [value] : []
  return {
    json,
    isArray,
    count: rows.length,
    columns: rows.length === 0 ? [] : known(keysOf(rows)),
    missingAsDefault,
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(body: unknown) {
  try {
    return utf8.decode(body as Buffer)
  } catch {
    throw malformed()
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw malformed()
  }
}

function malformed() {
  return new InterfaceError(400, 'PGRST102', 'Empty or invalid json')
}

/** The `columns` parameter: names, quoted or not, joined by commas. */
function columnsParameter({ query }: FastifyRequest) {
  const given = (query as Record<string, unknown>)['columns']
  if (typeof given !== 'string' || given === '') return undefined
  return given.split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
}

function keysOf(rows: unknown[]) {
  const [first, ...rest] = rows
  const keys = isObject(first) ? Object.keys(first) : undefined
  if (keys === undefined || !rest.every((row) => hasExactly(row, keys))) {
    throw new InterfaceError(400, 'PGRST102', 'All object keys must match')
  }
  return keys
}

function hasExactly(row: unknown, keys: string[]) {
  return (
    isObject(row) && Object.keys(row).length === keys.length && keys.every((key) => Object.hasOwn(row, key))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function known(names: string[]): TableColumn[] {
  return [...new Set(names)].map((name) => {
    if (isTableColumn(name)) return name
    throw new InterfaceError(
      400,
      'PGRST204',
      `Could not find the '${name}' column of '${table}' in the schema cache`,
    )
  })
}
