import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { outputOf } from './output.ts'
import { endWithTest } from './programs.ts'

/** A demonstration that was started, as `npm run demo` starts it. */
export interface Demonstration {
  /** Resolves with what it prints behind a word; rejects with all that it said when it ends before. */
  printed: (word: string) => Promise<string>
  /** Ends it by a signal, and resolves with its exit code, or the signal that it died of. */
  end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>
}

/**
 * Starts the demonstration.
 *
 * @param environment Its environment; `PORT` 0 takes any port that is free.
 * @param checkout Where the product is.
 */
export function startDemonstration(environment: NodeJS.ProcessEnv, checkout = '.'): Demonstration {
  const child = spawn(process.execPath, ['start.js', 'demo'], { cwd: checkout, env: environment })
  endWithTest(child)
  const { output, printed } = outputOf(child)
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    printed: async (word) => {
      const line = new RegExp(`^${word}: +(\\S+)\\n`, 'm')
      await printed(line)
      return line.exec(output())?.[1] ?? ''
    },
    end: async (signal) => {
      child.kill(signal)
      const [code, killedBy] = await exited
      return code ?? killedBy
    },
  }
}
