import type { FastifyInstance } from 'fastify'

import { renderAnswer } from '../../pages/answer/render.tsx'
import { answerHeaders } from '../../pages/headers.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { prepareDocument, sendDocument } from './document.ts'

/** The settings of the answer page's document. */
export type AnswerOptions = Pick<Settings, 'anonKey' | 'look'>

/** The page at `/answer/`, on which an accepted person gives their RSVP. The server never sees their token here. */
export async function answerPage(app: FastifyInstance, { anonKey, look }: AnswerOptions) {
  const rendered = renderAnswer({ backend: { url: null, anonKey } }, { look, policyInDocument: false })
  const document = await prepareDocument(rendered, answerHeaders)
  // Mail programs change links. The page itself reads what came in the path.
  for (const path of ['/answer', '/answer*'])
    app.get(path, (request, reply) => sendDocument(request, reply, document))
}
