import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import react from '@vitejs/plugin-react'
import { defineConfig, type BuildEnvironment, type ViteBuilder } from 'vite'

import { OperatorError } from './src/settings/operator-error.ts'
import { readPageSettings } from './src/settings/build-settings.ts'
import { readEnvironment } from './tools/env-files.ts'
import { installedBeside, packageListOf } from './tools/packages.ts'
import { entryOf, environmentOf, pages, rendererOf, scriptedPages } from './tools/pages.ts'
import { inlineScript } from './tools/plugins/inline-script.ts'
import { pageImages } from './tools/plugins/page-images.ts'
import { plainImports } from './tools/plugins/plain-imports.ts'
import { pageScripts } from './tools/plugins/page-scripts.ts'
import { nextFolder, putInPlace } from './tools/in-place.ts'
import { compressSite, writeStaticSite } from './tools/static-site.ts'
import { versionOf } from './tools/version.js'

/** The mode in which `npm start` builds, without the static site and its settings. */
const selfHosted = 'self-hosted'
export default defineConfig(({ command, mode }) => {
  // Tests set NODE_ENV to another value, with which the page would have React's development version.
  if (command === 'build') process.env.NODE_ENV = 'production'
  const version = versionOf(import.meta.dirname)
  return {
    base: './',
    define: { 'import.meta.env.VERSION': JSON.stringify(version) },
    appType: 'custom',
    plugins: [react(), pageScripts(), pageImages(), inlineScript(), plainImports()],
    // For `npm run dev`. Without the entries, the first visit would find new packages and load again.
    optimizeDeps: { entries: scriptedPages.map(entryOf) },
    server: {
      watch: {
        ignored: ['data', 'dist', 'build', 'release', 'screenshots'].map((name) =>
          join(import.meta.dirname, name, '**'),
        ),
      },
    },
    builder: {
      sharedConfigBuild: true,
      sharedPlugins: true,
      async buildApp(builder) {
        const settings = mode === selfHosted ? undefined : readSettings(mode)
        for (const page of scriptedPages) await builder.build(findEnvironment(builder, environmentOf(page)))
        await builder.build(findEnvironment(builder, 'server'))
        if (settings) await writeStaticSite(settings)
        await compressSite()
        // `start.js` reads this file before it runs anything.
        await writeFile(join(nextFolder('build'), 'version'), version)
        await putInPlace()
      },
    },
    environments: {
      ...Object.fromEntries(
        (command === 'build' ? scriptedPages : []).map((page, index) => [
          environmentOf(page),
          pageBuild(page, index === 0),
        ]),
      ),
      server: {
        consumer: 'server',
        define: command === 'build' ? { 'process.env.NODE_ENV': '"production"' } : {},
        // Packages are bundled: with few files to look for, the programs start in two thirds of the time.
        resolve: command === 'build' ? { noExternal: true, external: installedBeside } : {},
        build: {
          outDir: nextFolder('build'),
          license: { fileName: packageListOf('server') },
          copyPublicDir: false,
          cssMinify: true,
          rolldownOptions: {
            // Tree shaking and minifying would remove calls that are needed only for what they throw.
            treeshake: false,
            output: { minify: false },
            input: {
              server: 'src/server/main.ts',
              cli: 'src/cli/main.ts',
              ...Object.fromEntries(pages.map((page) => [page, rendererOf(page)])),
            },
          },
        },
      },
    },
  }
})

/**
 * The settings of the build of a page's script. Each page has a separate build, so that no other page can add a byte to the
 * script. The first build empties the folder.
 */
function pageBuild(page: string, isFirst: boolean) {
  return {
    consumer: 'client' as const,
    build: {
      outDir: nextFolder('dist'),
      emptyOutDir: isFirst,
      modulePreload: false as const,
      license: { fileName: packageListOf(page) },
      rolldownOptions: {
        input: { [page]: entryOf(page) },
        // One file for the page's first script, and one for the sign-in: several would be requested one after the other.
        output: {
          codeSplitting: {
            groups: [
              { name: page, tags: ['$initial'] },
              { name: 'sign-in', test: /desk\/(session|kit\/Field)|desk\/sign-in/ },
            ],
          },
        },
      },
    },
  }
}

function findEnvironment({ environments }: ViteBuilder, name: string): BuildEnvironment {
  const found = environments[name]
  if (!found) throw new Error(`the environment ${name} is missing`)
  return found
}

/** Reads the `VITE_` settings. An invalid one ends the build with a message. */
function readSettings(mode: string) {
  try {
    return readPageSettings(readEnvironment(mode))
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
