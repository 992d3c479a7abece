import type { FastifyInstance } from 'fastify'

import { deskHeaders } from '../../pages/headers.ts'
import { version } from '../../settings/version.ts'
import { prepareDocument, sendDocument } from './document.ts'

/** What the desk's document is rendered from. */
export interface DeskOptions {
  anonKey: string
  /** Whether accounts are a hosted project's, at which only the hosted way's desk signs in. */
  signInIsElsewhere: boolean
}

/**
 * The organisers' page, at `/desk`. It is rendered for whoever opens it first: a start does not wait for that.
 */
export async function desk(app: FastifyInstance, { anonKey, signInIsElsewhere }: DeskOptions) {
  const data = { backend: { url: null, anonKey }, signInIsElsewhere, version }
  const prepare = async () => {
    const { renderDesk } = await import('../../pages/desk/render.tsx')
    return prepareDocument(renderDesk(data, { root: './', policyInDocument: false }), deskHeaders)
  }
  let document: ReturnType<typeof prepare> | undefined
  app.get('/desk', async (request, reply) => sendDocument(request, reply, await (document ??= prepare())))
}
