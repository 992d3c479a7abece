import type { FastifyInstance } from 'fastify'

import { columns } from '../../application/application.ts'
import { HttpError } from '../http/errors.ts'
import { acceptBodies, type ParseQueue } from '../http/large-requests.ts'

/** The maximum number of fields of a form, more than ours has: parsing 100,000 fields would block the server. */
const maxFields = 4 * columns.length

const [plus, space] = [0x2b, 0x20]

/** Accepts only bodies in the format of a browser's form, and parses them into the form answers by field name. */
export function acceptForms(app: FastifyInstance, queueParsing: ParseQueue): void {
  acceptBodies(app, queueParsing, 'application/x-www-form-urlencoded', formAnswersIn)
}

/**
 * Parses a form's body.
 *
 * @throws {HttpError} if there are too many fields.
 */
function formAnswersIn(body: Buffer): Record<string, string> {
  // URLSearchParams takes five times as long for a plus as for a space.
  for (let index = 0; index < body.length; index += 1) if (body[index] === plus) body[index] = space
  const text = body.toString()
  if (text.split('&', maxFields + 1).length > maxFields) {
    throw new HttpError(400, 'HTTP400', 'The form sends fewer fields than this request has.')
  }
  return Object.fromEntries(new URLSearchParams(text))
}
