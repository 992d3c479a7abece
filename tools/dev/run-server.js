// Runs the server from its sources. The parent process, the development server, transforms each module that this one asks for.
// JavaScript, because Node.js 20 runs no TypeScript.
import { stripVTControlCharacters } from 'node:util'
import { ESModulesEvaluator, ModuleRunner } from 'vite/module-runner'

/** @typedef {{ result: any } | { error: any }} Response */

/** @type {Map<number, (response: Response) => void>} */
const pending = new Map()
let count = 0

process.on('message', (/** @type {{ id: number, response: Response }} */ { id, response }) => {
  pending.get(id)?.(response)
  pending.delete(id)
})

const runner = new ModuleRunner(
  {
    hmr: false,
    transport: {
      invoke: (payload) =>
        new Promise((resolve) => {
          pending.set(++count, resolve)
          process.send?.({ id: count, payload })
        }),
    },
  },
  new ESModulesEvaluator(),
)

/**
 * Describes why the server does not start, with the place in our sources if it is known.
 *
 * @param {unknown} error
 */
function sentenceOf(error) {
  if (!(error instanceof Error)) return String(error)
  // The first line of a syntax error says only how many there are.
  const [first = '', ...others] = stripVTControlCharacters(error.message).split('\n').filter(Boolean)
  const message = first.endsWith(':') ? `${first} ${others[0] ?? ''}` : first
  const [place] = /\b(?:src|supabase)\/[^\s:()]+:\d+:\d+/.exec(error.stack ?? '') ?? []
  return place === undefined ? message : `${message} (${place})`
}

try {
  await runner.import('/src/server/main.ts')
} catch (error) {
  console.error(sentenceOf(error))
  process.exit(1)
}
