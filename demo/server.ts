import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { OperatorError } from '../src/settings/operator-error.ts'

/** A started server in a separate process. */
export interface ServerProcess {
  child: ChildProcess
  /**
   * Resolves with the server's address when it is ready.
   *
   * @throws {OperatorError} with the errors that it printed, if it ends before.
   */
  ready: Promise<string>
  /** Resolves when the process has ended. */
  ended: Promise<unknown>
}

/**
 * Starts a server. It ends with this process, even if this process is killed.
 *
 * @param program The arguments of Node.js that run the server.
 * @param environment The server's whole environment.
 */
export function startServer(program: readonly string[], environment: NodeJS.ProcessEnv): ServerProcess {
  const child = spawn(process.execPath, ['--import', './demo/with-parent.js', ...program], {
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // A separate process group, so that Ctrl-C reaches only this process.
    detached: true,
  })
  const ended = once(child, 'close')
  let output = ''
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ready = new Promise<string>((resolve, reject) => {
    ended.then(() => reject(new OperatorError(errors.trim() || 'The server ended.')), reject)
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [, address] = / is ready at (\S+)\/\n/.exec(output) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  void ready.then(
    () => {
      for (const stream of [child.stdout, child.stderr]) stream?.removeAllListeners('data').resume()
    },
    () => {},
  )
  return { child, ready, ended }
}
