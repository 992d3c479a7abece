import type { FastifyInstance } from 'fastify'

import { deskHeaders } from '../../pages/headers.ts'
import { version } from '../../settings/version.ts'
import { prepareDocument, sendDocument } from './document.ts'

/** What the desk's document is rendered from. */
export interface DeskOptions {
  anonKey: string
  /** Whether the accounts are a hosted project's. Then only the desk on the static host signs in. */
  signInIsElsewhere: boolean
}

/** The organisers' page, at `/desk`. */
export async function desk(app: FastifyInstance, { anonKey, signInIsElsewhere }: DeskOptions) {
  const data = { backend: { url: null, anonKey }, signInIsElsewhere, version }
  const prepare = async () => {
    const { renderDesk } = await import('../../pages/desk/render.tsx')
    return prepareDocument(renderDesk(data, { root: './', policyInDocument: false }), deskHeaders)
  }
  // The start does not wait for it. It is not read later either, since an update replaces the file beneath a running server.
  const document = prepare()
  app.get('/desk', async (request, reply) => sendDocument(request, reply, await document))
}
