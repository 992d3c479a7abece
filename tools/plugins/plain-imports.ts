import type { Plugin } from 'vite'

/**
 * Leaves out what Vite puts around each `import()`: it would load styles and modules before the script, and ours have none. That is
 * 560 bytes of the desk's script.
 */
export function plainImports(): Plugin {
  return {
    name: 'plain-imports',
    enforce: 'pre',
    load: (id) =>
      id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : undefined,
  }
}
