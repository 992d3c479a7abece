import type { FastifyInstance } from 'fastify'

import { deskHeaders } from '../../pages/headers.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { version } from '../../settings/version.ts'
import { sendDocument } from './document.ts'
import type { PageState } from './page-state.ts'

/** The data of the desk's document, and its words. */
export interface DeskOptions extends Pick<Settings, 'anonKey' | 'look'> {
  pageState: PageState
  /** Whether the accounts are a hosted project's. Then organisers sign in only at the desk on the static host. */
  isSignInElsewhere: boolean
}

/** The organisers' page, at `/desk`, also by links that a mail program changed. */
export async function deskPage(
  app: FastifyInstance,
  { anonKey, look: operator, isSignInElsewhere, pageState }: DeskOptions,
) {
  const data = { backend: { url: null, anonKey }, isSignInElsewhere, version, operator }
  const prepare = async () => {
    const { renderDesk } = await import('../../pages/desk/render.tsx')
    return pageState.documentOf(
      (look) => renderDesk(data, { look, root: './', policyInDocument: false }),
      deskHeaders,
    )
  }
  // The start does not wait for the import. The import cannot wait for the first request either: an update may replace the
  // file while the server runs.
  const document = prepare()
  for (const path of ['/desk', '/desk*'])
    app.get(path, async (request, reply) => sendDocument(request, reply, (await document)()))
}
