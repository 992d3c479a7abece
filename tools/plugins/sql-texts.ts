import { dirname, join } from 'node:path'

import type { Plugin } from 'vite'

/** A pattern of SQL files: their folder, and whether folders in it count. */
const pattern = /import\.meta\.glob<string>\('([^'*]+)\/(\*\*\/)?\*\.sql', \{[^}]*\}\)/g

/**
 * Lets a module that imports SQL files by a pattern read them itself. Vite makes a module of each file, and Vitest loads modules
 * one after another. One module with all texts is no faster, since Vite parses it in each run.
 */
export function sqlTexts(): Plugin {
  let root = ''
  return {
    name: 'sql-texts',
    configResolved(config) {
      root = config.root
    },
    transform: {
      order: 'pre',
      filter: { code: '*.sql' },
      handler(code, id) {
        const reading = code.replace(pattern, (_call, folder: string, below?: string) => {
          const directory = folder.startsWith('/') ? join(root, folder) : join(dirname(id), folder)
          const options = { encoding: 'utf8', recursive: below !== undefined }
          return `Object.fromEntries(
            readdirSync(${JSON.stringify(directory)}, ${JSON.stringify(options)})
              .filter((name) => name.endsWith('.sql'))
              .map((name) => [${JSON.stringify(folder)} + '/' + name, readFileSync(${JSON.stringify(directory)} + '/' + name, 'utf8')])
          )`
        })
        return { code: `import { readdirSync, readFileSync } from 'node:fs'\n${reading}`, map: null }
      },
    },
  }
}
