import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { table } from '../../application/application.ts'
import type { SentRows } from '../applications/insert-rows.ts'
import { callFunction, type FindFunction } from './functions.ts'
import type { Caller } from '../database/connection/pools.ts'
import type { Sql } from '../database/connection/sql.ts'
import { callerOf, type ReadToken } from '../http/api-key.ts'
import { HttpError, httpError } from '../http/errors.ts'
import { isLarge, acceptBodies, type ParseQueue } from '../http/large-requests.ts'
import { createWrongTokenLimit, type Allowance } from '../http/rate-limiter.ts'
import { argumentsOf, readRows } from './sent-rows.ts'

/** The dependencies of the data interface. */
export interface DataInterfaceOptions {
  /** The public key that a caller has to send. */
  anonKey: string
  /** Reads the token of a signed-in caller; undefined if nobody can sign in here. */
  readToken: ReadToken | undefined
  /** Limits the rows that one IP address sends. */
  allow: Allowance
  /** Queues large bodies. */
  queueParsing: ParseQueue
  /** Stores rows with the caller's rights. Returns their number. */
  insert: (caller: Caller, rows: SentRows) => Promise<number>
  /** Queries the database with the caller's rights. */
  as: (caller: Caller) => Sql
  /** Finds the functions that may be called. */
  findFunction: FindFunction
}

/**
 * A part of PostgREST's interface. It responds as PostgREST 13 does, so that PostgREST's clients work unchanged. It offers
 * inserts into one table, `POST /rest/v1/retreat_applications`, and calls of our functions, `POST /rest/v1/rpc/...`: those
 * of the desk, and a few for visitors. Everything else is refused before it reaches the database.
 *
 * @see https://docs.postgrest.org/en/v13/references/api/tables_views.html#insert
 */
export async function dataInterface(
  app: FastifyInstance,
  { anonKey, readToken, allow, queueParsing, insert, as, findFunction }: DataInterfaceOptions,
) {
  const countWrongToken = createWrongTokenLimit()
  // PostgreSQL parses the bodies. This server parses a body only to find the names of columns or arguments, or one complete row.
  acceptBodies(app, queueParsing)

  app.decorateRequest('caller')
  app.addHook('onRequest', async (request) => {
    request.setDecorator<Caller>('caller', await callerOf(request, anonKey, readToken))
    refuseOtherSchema(request)
    // A large body counts as one row before it is read; its other rows count afterwards.
    if (isLarge(request.raw)) allow(request.ip, 1)
  })
  app.setErrorHandler((error, request, reply) =>
    sendError(httpError(error, isSignedIn(request)), request, reply),
  )
  app.setNotFoundHandler((request, reply) => sendError(notFound(request), request, reply))

  app.post(`/${table}`, async (request, reply) => {
    const preferences = String(request.headers.prefer ?? '')
    refuseReading(request, preferences)
    const rows = readRows(request, /\bmissing=default\b/.test(preferences))
    const caller = request.getDecorator<Caller>('caller')
    allow(request.ip, isLarge(request.raw) ? Math.max(rows.count - 1, 0) : rows.count)
    const count = rows.count === 0 ? 0 : await insert(caller, rows)
    const applied =
      preferences.match(/\b(return=minimal|missing=default|count=(exact|planned|estimated))\b/g) ?? []
    if (applied.length > 0) void reply.header('preference-applied', applied.join(', '))
    const isCounted = applied.some((each) => each === 'count=exact' || each === 'count=estimated')
    void reply.header('content-range', isCounted ? `*/${count}` : '*/*')
    return reply.code(201).send()
  })

  app.post('/rpc/:name', async (request, reply) => {
    const { name } = request.params as { name: string }
    const { json, names } = argumentsOf(request)
    const called = await findFunction(name, names)
    if (called === undefined) throw noFunction(name, names)
    const caller = request.getDecorator<Caller>('caller')
    if (caller.role === 'anon' && !called.isPublic) throw permissionDenied(request, `function ${name}`)
    const result = await callFunction(as(caller), called, json, names)
    if (called.parameters.has('token') && isInvalid(result)) countWrongToken(request.ip)
    return reply.type('application/json; charset=utf-8').send(result)
  })

  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
    url: `/${table}`,
    handler: (request) => {
      throw permissionDenied(request)
    },
  })
}

/** Whether the result of a function says that the token of an applicant's link is invalid. */
function isInvalid(result: string) {
  return (JSON.parse(result) as { state?: string } | null)?.state === 'invalid'
}

/** Refuses preferences that need the right to read: returning the row, or comparing it with stored rows. */
function refuseReading(request: FastifyRequest, preferences: string) {
  if (/\breturn=(representation|headers-only)\b|\bresolution=/.test(preferences))
    throw permissionDenied(request)
}

function refuseOtherSchema({ method, headers }: FastifyRequest) {
  const writes = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
  const schema = String(headers[writes ? 'content-profile' : 'accept-profile'] ?? 'public')
  if (schema === 'public') return
  throw new HttpError(406, 'PGRST106', `Invalid schema: ${schema}`, {
    hint: 'Only the following schemas are exposed: public',
  })
}

/** Whether the caller is signed in. False if the key was refused. */
function isSignedIn(request: FastifyRequest) {
  return request.getDecorator<Caller | undefined>('caller')?.role === 'authenticated'
}

function permissionDenied(request: FastifyRequest, object = `table ${table}`) {
  return new HttpError(isSignedIn(request) ? 403 : 401, '42501', `permission denied for ${object}`)
}

function noFunction(name: string, names: string[]) {
  const list = names.join(', ')
  const [signature, parameters] =
    names.length === 0
      ? [' without parameters', ' without parameters']
      : [`(${list})`, ` with parameter${names.length === 1 ? '' : 's'} ${list}`]
  const details = `Searched for the function public.${name}${parameters} or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.`
  const message = `Could not find the function public.${name}${signature} in the schema cache`
  return new HttpError(404, 'PGRST202', message, { details })
}

function notFound({ method, url }: FastifyRequest) {
  const [, resource = ''] = /^\/rest\/v1\/([^/?]+)\/?(?:\?|$)/.exec(url) ?? []
  const [, called] = /^\/rest\/v1\/rpc\/([^/?]+)/.exec(url) ?? []
  if (resource === table || (called !== undefined && method !== 'POST'))
    return new HttpError(405, 'PGRST117', `Unsupported HTTP method: ${method}`)
  if (called !== undefined) return noFunction(called, [])
  if (resource === '') return new HttpError(404, 'PGRST125', 'Invalid path specified in request URL')
  return new HttpError(404, 'PGRST205', `Could not find the table 'public.${resource}' in the schema cache`)
}

/**
 * Responds with an error in PostgREST's shape.
 *
 * @see https://docs.postgrest.org/en/v13/references/errors.html
 */
function sendError(error: HttpError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.status >= 500) request.log.error({ err: error.cause ?? error }, 'the data interface failed')
  const { code, message, details, hint, retryAfter } = error
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
  if (error.status === 401) void reply.header('www-authenticate', 'Bearer')
  void reply.code(error.status).type('application/json; charset=utf-8')
  return reply.send(JSON.stringify({ code, message, details, hint }))
}
