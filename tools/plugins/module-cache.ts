import type { Plugin } from 'vite'
import type { CacheKeyIdGenerator } from 'vitest/node'

/**
 * Adds to Vitest's cache of transformed modules (`fsModuleCache`) what its key lacks: the key of a module has the module's own text,
 * but neither `define`, nor what a script is built from, nor the files that a pattern matches.
 *
 * @param version What `import.meta.env.VERSION` is defined as.
 */
export function moduleCache(version: string): Plugin {
  const keyOf: CacheKeyIdGenerator = ({ environment, id, sourceCode }) => {
    // Vitest 4.1 reads the cached modules of its global setup as bytes, so that an error there cannot be shown.
    if (environment.name === '__vitest__') return false
    // Vitest itself does not see a pattern with a type argument.
    if (id.endsWith('?script') || sourceCode.includes('import.meta.glob')) return false
    return sourceCode.includes('import.meta.env.VERSION') ? version : undefined
  }
  return {
    name: 'module-cache',
    // Each project calls this with the same function, which counts once.
    configureVitest: ({ experimental_defineCacheKeyGenerator: add }) => add(keyOf),
  }
}
