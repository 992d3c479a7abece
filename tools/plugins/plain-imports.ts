import type { Plugin } from 'vite'

/**
 * Removes Vite's wrapper around each `import()`, which preloads styles and modules. Our scripts have none of these to
 * preload, and the wrapper is 560 bytes of the desk's script.
 */
export function plainImports(): Plugin {
  return {
    name: 'plain-imports',
    enforce: 'pre',
    load: (id) =>
      id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : undefined,
  }
}
