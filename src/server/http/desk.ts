import type { FastifyInstance } from 'fastify'

import { renderDesk } from '../../pages/desk/render.tsx'
import { deskHeaders } from '../../pages/headers.ts'
import { version } from '../../settings/version.ts'
import { prepareDocument, sendDocument } from './document.ts'

/** What the desk's document is rendered from. */
export interface DeskOptions {
  anonKey: string
  /** Whether accounts are a hosted project's, at which only the hosted way's desk signs in. */
  signInIsElsewhere: boolean
}

/** The organisers' page, at `/desk`. */
export async function desk(app: FastifyInstance, { anonKey, signInIsElsewhere }: DeskOptions) {
  const data = { backend: { url: null, anonKey }, signInIsElsewhere, version }
  const document = await prepareDocument(
    renderDesk(data, { root: './', policyInDocument: false }),
    deskHeaders,
  )
  app.get('/desk', (request, reply) => sendDocument(request, reply, document))
}
