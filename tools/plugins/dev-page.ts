import type { Plugin, ViteDevServer } from 'vite'

import { readPageSettings, type PageSettings } from '../../src/settings/page-settings.ts'
import { staticApplyData, staticDeskData } from '../static-site.ts'

/** Serves the pages in development, rendered anew for each request. */
export function devPage(): Plugin {
  return {
    name: 'dev-page',
    configureServer(server) {
      return () => {
        server.middlewares.use((request, response, next) => {
          if (request.method !== 'GET') return next()
          const rendered = async () => {
            const settings = readPageSettings(server.config.env)
            const isDesk = /^\/desk\/?(\?|$)/.test(request.originalUrl ?? '')
            const html = isDesk ? await deskOf(server, settings) : await applyOf(server, settings)
            response.setHeader('content-type', 'text/html')
            response.end(await server.transformIndexHtml(isDesk ? '/desk' : '/', html))
          }
          rendered().catch((error: unknown) => next(error))
        })
      }
    },
  }
}

async function applyOf(server: ViteDevServer, settings: PageSettings) {
  const { renderApply } = (await server.ssrLoadModule(
    '/src/pages/apply/render.tsx',
  )) as typeof import('../../src/pages/apply/render.tsx')
  return renderApply(staticApplyData(settings), { siteUrl: undefined, policyInDocument: false }).html
}

async function deskOf(server: ViteDevServer, settings: PageSettings) {
  const { renderDesk } = (await server.ssrLoadModule(
    '/src/pages/desk/render.tsx',
  )) as typeof import('../../src/pages/desk/render.tsx')
  return renderDesk(staticDeskData(settings), { root: './', policyInDocument: false }).html
}
