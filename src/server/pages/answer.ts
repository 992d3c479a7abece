import type { FastifyInstance } from 'fastify'

import { renderAnswer } from '../../pages/answer/render.tsx'
import { answerHeaders } from '../../pages/headers.ts'
import { prepareDocument, sendDocument } from './document.ts'

/** The data of the answer page's document. */
export interface AnswerOptions {
  anonKey: string
}

/** The page at `/answer/`, on which an accepted person gives their RSVP. The server never sees their token here. */
export async function answerPage(app: FastifyInstance, { anonKey }: AnswerOptions) {
  const rendered = renderAnswer({ backend: { url: null, anonKey } }, { policyInDocument: false })
  const document = await prepareDocument(rendered, answerHeaders)
  app.get('/answer', (request, reply) => sendDocument(request, reply, document))
}
