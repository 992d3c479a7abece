import { build, type Plugin } from 'vite'

/** Loads `x.ts?script` as the text of a classic script, with all imports of `x.ts`. */
export function inlineScript(): Plugin {
  return {
    name: 'inline-script',
    async load(id) {
      if (!id.endsWith('?script')) return undefined
      const entry = id.slice(0, -'?script'.length)
      const output = await build({
        configFile: false,
        logLevel: 'warn',
        // In these scripts JSX makes DOM elements without React. In development mode, JSX would import another runtime, which the
        // alias does not replace.
        oxc: { jsx: { development: false } },
        resolve: { alias: { 'react/jsx-runtime': '/src/pages/dom-elements.ts' } },
        build: { write: false, copyPublicDir: false, lib: { entry, formats: ['iife'], name: 'script' } },
      })
      const [chunk] = [output].flat().flatMap((result) => ('output' in result ? result.output : []))
      if (chunk?.type !== 'chunk') throw new Error(`${entry} did not become a script`)
      const foreign = chunk.moduleIds.find((path) => path.includes('/node_modules/'))
      if (foreign !== undefined) throw new Error(`${entry} has ${foreign} in it, whose license nothing lists`)
      for (const path of chunk.moduleIds) this.addWatchFile(path)
      return `export default ${JSON.stringify(chunk.code.trim())}`
    },
  }
}
