import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

import { missingPolicy, renderMissing } from '../../pages/missing/render.tsx'
import { headersOf } from './document.ts'

/** Whether a request may be that of a page, which a person reads. */
function isBrowser({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept?.includes('text/html') === true
}

/** Responds that nothing is at an address: to browsers with a page, to others with a line of text. */
export function sendMissing(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply.code(404)
  if (!isBrowser(request)) return reply.type('text/plain').send('Not found.\n')
  // A proxy may serve the site from a folder, so the address of the form is relative.
  const [path = ''] = request.url.split('?')
  const depth = path.split('/').length - 2
  return reply.headers(headersOf(missingPolicy)).send(renderMissing('../'.repeat(depth) || './'))
}

/** Responds to an address that cannot be decoded, such as a link that ends within an encoded character. */
export function sendUnreadable(
  { statusCode = 400, code, message }: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (isBrowser(request)) void sendMissing(request, reply)
  else void reply.code(statusCode).send({ statusCode, code, error: 'Bad Request', message })
}
