import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { outputOf } from './output.ts'
import { endWithTest } from './end-with-test.ts'

/** A running nginx or Caddy. */
export interface RunningProxy {
  /** The whole log so far. */
  output: () => string
  /** Resolves when the log contains the text. */
  waitForLog: (text: RegExp) => Promise<void>
  /** Ends the proxy at once, with its open connections. */
  stop(): Promise<void>
}

/**
 * Starts a proxy that logs to its standard error.
 *
 * @param ready The log line that the proxy writes when it is ready.
 * @throws {Error} The proxy ended. The message has its output.
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
  const { output, waitForOutput } = outputOf(child)
  await waitForOutput(ready)
  return {
    output,
    waitForLog: waitForOutput,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
