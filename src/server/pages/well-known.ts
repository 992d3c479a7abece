import type { FastifyInstance } from 'fastify'

import { robots } from '../../pages/robots.ts'
import type { Settings } from '../../settings/server-settings.ts'

/** Milliseconds for which `security.txt` is valid from its request: a contact is as current as the server that names it. */
const validity = 30 * 24 * 3_600_000

/**
 * Files that programs look for at a fixed address: `/robots.txt`, and `/.well-known/security.txt` if there is a contact.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9116
 */
export async function wellKnown(
  app: FastifyInstance,
  { securityContact: contact }: Pick<Settings, 'securityContact'>,
) {
  app.get('/robots.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').send(robots))
  if (contact === undefined) return
  app.get('/.well-known/security.txt', (_request, reply) => {
    const expires = new Date(Date.now() + validity).toISOString()
    return reply.type('text/plain; charset=utf-8').send(`Contact: ${contact}\nExpires: ${expires}\n`)
  })
}
