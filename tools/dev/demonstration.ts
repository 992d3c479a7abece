import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { OperatorError } from '../../src/settings/operator-error.ts'

/** The invented people, their mailbox and their database, in a process of their own. */
export interface Demonstration {
  /**
   * Resolves with the environment of a server for them.
   *
   * @throws {OperatorError} if they could not be made.
   */
  environment: Promise<NodeJS.ProcessEnv>
  /** Removes everything. */
  end: () => Promise<unknown>
}

/** Makes the demonstration, with the migrations as they are now. Prints its links. */
export function startDemonstration(site: string): Demonstration {
  const child = spawn(process.execPath, ['tools/run.js', 'demo/main.ts', site], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A separate process group, so that Ctrl-C reaches only this process.
    detached: true,
  })
  const ended = once(child, 'exit')
  const environment = Promise.race([
    once(child, 'message').then(([message]) => message as NodeJS.ProcessEnv),
    ended.then(() => {
      throw new OperatorError('The invented people could not be made: the terminal says why.')
    }),
  ])
  environment.catch(() => {})
  return {
    environment,
    async end() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
