import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { outputOf } from './output.ts'
import { endWithTest } from './end-with-test.ts'

/** A running demonstration, as `npm run demo` starts it. */
export interface Demonstration {
  /** Resolves with the value of the line `word: value` in its output. Rejects with its whole output if it ends first. */
  waitForValue: (word: string) => Promise<string>
  /** Ends it with a signal. Resolves with its exit code or the signal that killed it. */
  end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>
}

/**
 * Starts the demonstration.
 *
 * @param environment Its environment. `PORT` 0 takes any free port.
 * @param checkout The folder of the product.
 */
export function startDemonstration(environment: NodeJS.ProcessEnv, checkout = '.'): Demonstration {
  const child = spawn(process.execPath, ['start.js', 'demo'], { cwd: checkout, env: environment })
  endWithTest(child)
  const { output, waitForOutput } = outputOf(child)
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    waitForValue: async (word) => {
      const line = new RegExp(`^${word}: +(\\S+)\\n`, 'm')
      await waitForOutput(line)
      return line.exec(output())?.[1] ?? ''
    },
    end: async (signal) => {
      child.kill(signal)
      const [code, killedBy] = await exited
      return code ?? killedBy
    },
  }
}
