import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { outputOf } from './output.ts'
import { endWithTest } from './programs.ts'

/** A running nginx or Caddy. */
export interface RunningProxy {
  /** Everything that it has logged so far. */
  output: () => string
  /** Resolves when its log holds the text. */
  logged: (text: RegExp) => Promise<void>
  /** Ends it at once, with the connections that it has. */
  stop(): Promise<void>
}

/**
 * Starts a proxy that logs to its standard error.
 *
 * @param ready What it logs when it is ready.
 * @throws {Error} that holds what it says where it ends instead.
 */
export async function startProxy(
  program: string,
  options: string[],
  ready: RegExp,
  env = process.env,
): Promise<RunningProxy> {
  const child = spawn(program, options, { stdio: ['ignore', 'ignore', 'pipe'], env })
  endWithTest(child)
  const ended = once(child, 'exit')
  const { output, printed } = outputOf(child)
  await printed(ready)
  return {
    output,
    logged: printed,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
