import type { Plugin, ViteDevServer } from 'vite'

import { readPageSettings, type PageSettings } from '../../src/settings/page-settings.ts'
import { readEnvironment } from '../env-files.ts'
import { staticAnswerData, staticApplyData, staticDeskData } from '../static-site.ts'

/** Serves the pages in development and renders them again for each request. */
export function devPage(): Plugin {
  return {
    name: 'dev-page',
    configureServer(server) {
      return () => {
        server.middlewares.use((request, response, next) => {
          if (request.method !== 'GET') return next()
          const sendPage = async () => {
            const settings = readPageSettings(readEnvironment(server.config.mode))
            const [, page = ''] = /^\/(desk|answer)\/?(\?|$)/.exec(request.originalUrl ?? '') ?? []
            const documentOf = { desk: deskOf, answer: answerOf }[page] ?? applyOf
            response.setHeader('content-type', 'text/html')
            response.end(await server.transformIndexHtml(`/${page}`, await documentOf(server, settings)))
          }
          sendPage().catch((error: unknown) => next(error))
        })
      }
    },
  }
}

async function applyOf(server: ViteDevServer, settings: PageSettings) {
  const { renderApply } = (await server.ssrLoadModule(
    '/src/pages/apply/render.tsx',
  )) as typeof import('../../src/pages/apply/render.tsx')
  return renderApply(staticApplyData(settings), {
    siteUrl: undefined,
    look: settings.look,
    policyInDocument: false,
  }).html
}

async function deskOf(server: ViteDevServer, settings: PageSettings) {
  const { renderDesk } = (await server.ssrLoadModule(
    '/src/pages/desk/render.tsx',
  )) as typeof import('../../src/pages/desk/render.tsx')
  return renderDesk(staticDeskData(settings), { look: settings.look, root: './', policyInDocument: false })
    .html
}

async function answerOf(server: ViteDevServer, settings: PageSettings) {
  const { renderAnswer } = (await server.ssrLoadModule(
    '/src/pages/answer/render.tsx',
  )) as typeof import('../../src/pages/answer/render.tsx')
  return renderAnswer(staticAnswerData(settings), { look: settings.look, policyInDocument: false }).html
}
