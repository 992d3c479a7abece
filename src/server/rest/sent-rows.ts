import type { FastifyRequest } from 'fastify'

import { columns, isComplete, table } from '../../application/application.ts'
import { isInsertColumn, type SentRows, type InsertColumn } from '../applications/insert-rows.ts'
import { HttpError } from '../http/errors.ts'
import { isObject, textOf } from '../http/json.ts'

/**
 * The most rows of a request that does not name its columns: comparing the keys of 100,000 rows would block the server. The
 * limit concerns only incomplete rows, since this many complete applications do not fit into the 256 KiB of a request.
 */
const maxRows = 2_500

/**
 * Reads the rows that a request asks to insert.
 *
 * @param usesDefaults Whether a value that a row lacks becomes the column's default, and not null.
 * @throws {HttpError} if PostgREST would not accept the body, or a column does not exist.
 */
export function readRows(request: FastifyRequest, usesDefaults: boolean): SentRows {
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new HttpError(400, 'PGRST102', `Content-Type not acceptable: ${type}`)
  }
  const json = decode(request.body)
  const requestedColumns = columnsParameter(request)
  if (requestedColumns !== undefined) {
    const names = knownColumns(requestedColumns)
    const complete = usesDefaults ? undefined : completeRow(json, names)
    if (complete !== undefined) return complete
    // The request names the columns, so only PostgreSQL parses the body. Each row has a brace, so the count is never too low.
    const isArray = !json.trimStart().startsWith('{')
    const count = isArray ? json.split('{').length - 1 || 1 : 1
    return { json, isArray, count, columns: names, usesDefaults }
  }
  const value = parse(json)
  const isArray = Array.isArray(value)
  // PostgREST sees no rows in a body that is neither an object nor an array.
  const rows: unknown[] = isArray ? value : isObject(value) ? [value] : []
  if (rows.length > maxRows)
    throw new HttpError(413, 'HTTP413', `At most ${maxRows} rows are accepted at once.`)
  const names = rows.length === 0 ? [] : knownColumns(keysOf(rows))
  const isCompleteRow = isObject(value) && names.length === columns.length && !usesDefaults
  return {
    json,
    isArray,
    count: rows.length,
    columns: names,
    ...(isCompleteRow ? { formAnswers: value } : {}),
    usesDefaults,
  }
}

/** The longest body, in characters, that is parsed to look for one complete row although the columns are named. */
const maxParsedLength = 16_384

/**
 * Finds one complete application: an object, or an array with one object. It can be inserted together with applications of
 * other requests. Returns undefined for any other body.
 */
function completeRow(json: string, names: InsertColumn[]): SentRows | undefined {
  if (
    json.length > maxParsedLength ||
    names.length !== columns.length ||
    !columns.every((name) => names.includes(name))
  )
    return undefined
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    // Leave it to PostgreSQL to report the error.
    return undefined
  }
  const row: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (!isObject(row) || !hasExactly(row, names) || !isComplete(row)) return undefined
  return {
    json: JSON.stringify(row),
    isArray: false,
    count: 1,
    columns: names,
    formAnswers: row,
    usesDefaults: false,
  }
}

/**
 * Reads the arguments of a function call: the JSON text of an object, and its keys, sorted. An empty body has no arguments.
 *
 * @throws {HttpError} if the body is not JSON.
 */
export function argumentsOf({ body }: FastifyRequest): { json: string; names: string[] } {
  const json = decode(body)
  const value = json === '' ? {} : parse(json)
  return { json, names: isObject(value) ? Object.keys(value).toSorted() : [] }
}

function decode(body: unknown) {
  try {
    return textOf(body)
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
  return new HttpError(400, 'PGRST102', 'Empty or invalid json')
}

/** Reads the `columns` parameter: names, quoted or not, joined by commas. Returns undefined if there are none. */
function columnsParameter({ query }: FastifyRequest) {
  const given = (query as Record<string, unknown>)['columns']
  if (typeof given !== 'string' || given === '') return undefined
  return given.split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
}

function keysOf(rows: unknown[]) {
  const [first, ...rest] = rows
  const keys = isObject(first) ? Object.keys(first) : undefined
  if (keys === undefined || !rest.every((row) => hasExactly(row, keys))) {
    throw new HttpError(400, 'PGRST102', 'All object keys must match')
  }
  return keys
}

function hasExactly(row: unknown, keys: string[]) {
  return (
    isObject(row) && Object.keys(row).length === keys.length && keys.every((key) => Object.hasOwn(row, key))
  )
}

function knownColumns(names: string[]): InsertColumn[] {
  return [...new Set(names)].map((name) => {
    if (isInsertColumn(name)) return name
    throw new HttpError(
      400,
      'PGRST204',
      `Could not find the '${name}' column of '${table}' in the schema cache`,
    )
  })
}
