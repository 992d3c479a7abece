import type { FastifyInstance } from 'fastify'

import { renderAnswer } from '../../pages/answer/render.tsx'
import { answerHeaders } from '../../pages/headers.ts'
import { prepareDocument, sendDocument } from './document.ts'

/** What the answer page's document is rendered from. */
export interface AnswerOptions {
  anonKey: string
}

/** The page on which somebody who was accepted says whether they come, at `/answer/`. It knows nobody's token. */
export async function answer(app: FastifyInstance, { anonKey }: AnswerOptions) {
  const rendered = renderAnswer({ backend: { url: null, anonKey } }, { policyInDocument: false })
  const document = await prepareDocument(rendered, answerHeaders)
  app.get('/answer', (request, reply) => sendDocument(request, reply, document))
}
