import type { FastifyInstance } from 'fastify'

import { renderAnswer } from '../../pages/answer/render.tsx'
import { linkedHeaders } from '../../pages/headers.ts'
import { renderWithdraw } from '../../pages/withdraw/render.tsx'
import type { Settings } from '../../settings/server-settings.ts'
import { sendDocument } from './document.ts'
import type { PageState } from './page-state.ts'

/** The settings of the pages' documents, and their words. */
export type LinkedOptions = Pick<Settings, 'anonKey'> & { pageState: PageState }

/** The pages to which applicants' own links lead, by their path. */
const pages = { '/answer': renderAnswer, '/withdraw': renderWithdraw }

/**
 * The page at `/answer/`, on which an accepted person gives their RSVP, and the one at `/withdraw/`, on which an applicant withdraws.
 * The server never sees their tokens here.
 */
export async function linkedPages(app: FastifyInstance, { anonKey, pageState }: LinkedOptions) {
  for (const [page, render] of Object.entries(pages)) {
    const document = await pageState.documentOf(
      (look) => render({ backend: { url: null, anonKey } }, { look, policyInDocument: false }),
      linkedHeaders,
    )
    // Mail programs change links. The page itself reads what came in the path.
    for (const path of [page, `${page}*`])
      app.get(path, (request, reply) => sendDocument(request, reply, document()))
  }
}
