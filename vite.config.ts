import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import react from '@vitejs/plugin-react'
import { build, defineConfig, loadEnv, type Plugin } from 'vite'

import { OperatorError } from './src/server/operator-error.ts'
import { readPageSettings } from './src/server/settings.ts'
import { compressSite, staticPageData, writeStaticSite } from './static-site.ts'

const pageEntry = 'src/page/main.tsx'
/** The mode in which `npm start` builds: it needs no static site, and none of its settings. */
const selfHosted = 'self-hosted'

/** The `VITE_` settings; a wrong one ends the build with its one sentence. */
function checkedSettings(mode: string) {
  try {
    return readPageSettings({ ...process.env, ...loadEnv(mode, process.cwd(), 'VITE_') })
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

/** The page's images, which `npm run images` makes: by the name that the page knows each by. */
const imageFolder = 'src/page/images'
const images = {
  touchIcon: 'apple-touch-icon.png',
  largeIcon: 'icon-192.png',
  preview: 'preview.png',
}

/**
 * `virtual:page-assets`: where the built page's script and images lie; in development, their sources. The icon
 * is part of the document, since browsers ask for it before they paint.
 */
function pageAssets(): Plugin {
  let addresses: Record<string, string> = { script: `/${pageEntry}` }
  for (const [name, file] of Object.entries(images)) addresses[name] = `/${imageFolder}/${file}`
  return {
    name: 'page-assets',
    async generateBundle(_options, bundle) {
      if (this.environment.name !== 'client') return
      const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry)
      if (entry) addresses = { script: `./${entry.fileName}` }
      for (const [name, file] of Object.entries(images)) {
        const source = await readFile(join(imageFolder, file))
        addresses[name] = `./${this.getFileName(this.emitFile({ type: 'asset', name: file, source }))}`
      }
    },
    resolveId: (id) => (id === 'virtual:page-assets' ? `\0${id}` : undefined),
    async load(id) {
      if (id !== '\0virtual:page-assets') return undefined
      const icon = dataAddress(await readFile(join(imageFolder, 'icon.svg'), 'utf8'))
      const lines = Object.entries({ ...addresses, icon }).map(
        ([name, address]) => `export const ${name} = ${JSON.stringify(address)}`,
      )
      return lines.join('\n')
    },
  }
}

/** An SVG as an address, with no more signs escaped than an address and an attribute need. */
function dataAddress(svg: string) {
  const text = svg.replaceAll('"', "'").replaceAll(/[#%<>{}]/g, (sign) => encodeURIComponent(sign))
  return `data:image/svg+xml,${text}`
}

/** `x.ts?script`: the module with all that it imports, as the text of a classic script. */
function inlineScript(): Plugin {
  return {
    name: 'inline-script',
    async load(id) {
      if (!id.endsWith('?script')) return undefined
      const entry = id.slice(0, -'?script'.length)
      this.addWatchFile(entry)
      const output = await build({
        configFile: false,
        logLevel: 'warn',
        build: { write: false, copyPublicDir: false, lib: { entry, formats: ['iife'], name: 'early' } },
      })
      const [chunk] = [output].flat().flatMap((result) => ('output' in result ? result.output : []))
      if (chunk?.type !== 'chunk') throw new Error(`${entry} did not become a script`)
      return `export default ${JSON.stringify(chunk.code.trim())}`
    },
  }
}

/** Serves the page in development, rendered anew for each request. */
function devPage(): Plugin {
  return {
    name: 'dev-page',
    configureServer(server) {
      return () => {
        server.middlewares.use((request, response, next) => {
          if (request.method !== 'GET') return next()
          const rendered = async () => {
            const { renderDocument } = (await server.ssrLoadModule(
              '/src/page/render.tsx',
            )) as typeof import('./src/page/render.tsx')
            const { html } = renderDocument(staticPageData(checkedSettings(server.config.mode)), {
              siteUrl: undefined,
              policyInDocument: false,
            })
            response.setHeader('content-type', 'text/html')
            response.end(await server.transformIndexHtml('/', html))
          }
          rendered().catch((error: unknown) => next(error))
        })
      }
    },
  }
}

export default defineConfig(({ command, mode }) => {
  // Whatever the caller's is: a test's would build React's development version into the page.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return {
    base: './',
    appType: 'custom',
    plugins: [react(), pageAssets(), inlineScript(), devPage()],
    server: { proxy: { '/rest': 'http://127.0.0.1:3000' } },
    builder: {
      sharedConfigBuild: true,
      sharedPlugins: true,
      async buildApp(builder) {
        const { client, server } = builder.environments
        if (!client || !server) throw new Error('an environment is missing')
        const settings = mode === selfHosted ? undefined : checkedSettings(mode)
        await builder.build(client)
        await builder.build(server)
        if (settings) await writeStaticSite(settings)
        await compressSite()
        // Last, so that a build which was cut off counts as none.
        await writeFile('dist/assets/complete', '')
      },
    },
    environments: {
      client: {
        build: {
          outDir: 'dist',
          modulePreload: false,
          rolldownOptions: { input: pageEntry },
        },
      },
      server: {
        consumer: 'server',
        resolve: { external: true },
        build: {
          outDir: 'build',
          copyPublicDir: false,
          cssMinify: true,
          rolldownOptions: {
            input: {
              server: 'src/server/main.ts',
              applications: 'src/cli/applications.ts',
              webhooks: 'src/cli/webhooks.ts',
              verify: 'src/cli/verify.ts',
              backup: 'src/cli/backup.ts',
              restore: 'src/cli/restore.ts',
              render: 'src/page/render.tsx',
            },
          },
        },
      },
    },
    test: {
      globalSetup: 'testing/setup.ts',
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // Those of a deployment need what stands around the product: nginx, pgbouncer, the Supabase CLI.
      include:
        mode === 'deployment' ? ['e2e/deployment/*.test.ts'] : ['src/**/*.test.{ts,tsx}', 'e2e/*.test.ts'],
    },
  }
})
