import type { Plugin } from 'vite'

import { readPageSettings } from '../../src/settings/page-settings.ts'
import { staticApplyData } from '../static-site.ts'

/** Serves the applicants' page in development, rendered anew for each request. */
export function devPage(): Plugin {
  return {
    name: 'dev-page',
    configureServer(server) {
      return () => {
        server.middlewares.use((request, response, next) => {
          if (request.method !== 'GET') return next()
          const rendered = async () => {
            const { renderApply } = (await server.ssrLoadModule(
              '/src/pages/apply/render.tsx',
            )) as typeof import('../../src/pages/apply/render.tsx')
            const data = staticApplyData(readPageSettings(server.config.env))
            const { html } = renderApply(data, { siteUrl: undefined, policyInDocument: false })
            response.setHeader('content-type', 'text/html')
            response.end(await server.transformIndexHtml('/', html))
          }
          rendered().catch((error: unknown) => next(error))
        })
      }
    },
  }
}
