import type { FastifyInstance } from 'fastify'

import { renderAnswer } from '../../pages/answer/render.tsx'
import { answerHeaders } from '../../pages/headers.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { sendDocument } from './document.ts'
import type { Words } from './words.ts'

/** The settings of the answer page's document, and its words. */
export type AnswerOptions = Pick<Settings, 'anonKey'> & { words: Words }

/** The page at `/answer/`, on which an accepted person gives their RSVP. The server never sees their token here. */
export async function answerPage(app: FastifyInstance, { anonKey, words }: AnswerOptions) {
  const document = await words.documentOf(
    (look) => renderAnswer({ backend: { url: null, anonKey } }, { look, policyInDocument: false }),
    answerHeaders,
  )
  // Mail programs change links. The page itself reads what came in the path.
  for (const path of ['/answer', '/answer*'])
    app.get(path, (request, reply) => sendDocument(request, reply, document()))
}
