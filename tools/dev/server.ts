import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { HotPayload } from 'vite'

import { startServer, type ServerProcess } from '../../demo/server.ts'
import { OperatorError } from '../../src/settings/operator-error.ts'

/** Milliseconds in which the writes of files that are saved together count as one change. */
const saveGap = 50

/** The product's server, which can be started again and again. */
export interface DevServer {
  /**
   * Resolves with the running server's address. Waits for a start.
   *
   * @throws {OperatorError} if the server does not start, or has ended.
   */
  address: () => Promise<string>
  /** Starts the server, and ends the one before. */
  restart: () => void
  /** Ends the server. */
  end: () => Promise<unknown>
}

/** The dependencies of the development server's own server. */
interface DevServerOptions {
  /** Reads the environment of the next server. It may take long. */
  environment: () => Promise<NodeJS.ProcessEnv>
  /** Answers a call of the server's module runner. */
  invoke: (payload: HotPayload) => Promise<unknown>
  /** Aborted when the program stops. Then no server starts. */
  signal: AbortSignal
}

/** Creates the product's server. It runs from the first `restart` on. */
export function createDevServer({ environment, invoke, signal }: DevServerOptions): DevServer {
  let current: ServerProcess | undefined
  let latest = 0
  const aborted = once(signal, 'abort').then(() => {
    throw new OperatorError('The server has been stopped.')
  })
  aborted.catch(() => {})
  let state = Promise.resolve('')

  /** Prints why the server does not run. */
  const report = ({ message }: Error) => {
    if (!signal.aborted) console.error(message)
  }
  const start = async () => {
    const server = (current = startServer(
      ['tools/dev/run-server.js'],
      await Promise.race([environment(), aborted]),
    ))
    answerCalls(server.child, invoke)
    const address = await server.ready.catch((error: unknown) => {
      throw new OperatorError(`The server does not start: ${(error as Error).message}`)
    })
    showWarnings(server.child)
    void server.ended.then(() => {
      // A server that a restart ended is no longer the current one.
      if (current !== server) return
      state = Promise.reject(new OperatorError('The server has ended: its last words are in the terminal.'))
      state.catch(report)
    })
    return address
  }
  const stop = async () => {
    const server = current
    current = undefined
    server?.child.kill('SIGTERM')
    await server?.ended
  }
  const restart = () => {
    const number = ++latest
    const former = state
    const stopping = stop()
    state = (async () => {
      await Promise.all([former.catch(() => {}), stopping, wait(saveGap)])
      // A later restart has the newest sources.
      if (number !== latest) throw new OperatorError('The server starts again.')
      // The former start may have had no process yet.
      await stop()
      return start()
    })()
    state.catch((error: Error) => number === latest && report(error))
  }
  return {
    async address() {
      for (;;) {
        const seen = state
        const address = await seen.catch((error: unknown) => {
          if (seen === state) throw error
        })
        if (address !== undefined && seen === state) return address
      }
    },
    restart,
    async end() {
      latest += 1
      await state.catch(() => {})
      await stop()
    },
  }
}

/** Answers the calls of a server's module runner. */
function answerCalls(child: ChildProcess, invoke: DevServerOptions['invoke']) {
  child.on('message', ({ id, payload }: { id: number; payload: HotPayload }) => {
    // Without a callback, a call of a process that has just ended would be an error of this one.
    void invoke(payload).then((response) => child.send({ id, response }, () => {}))
  })
}

/** Prints what a running server writes, except for the log's lines about requests. */
function showWarnings({ stdout, stderr }: ChildProcess) {
  stderr?.pipe(process.stderr, { end: false })
  if (stdout === null) return
  createInterface(stdout).on('line', (line) => {
    if (!line.startsWith('{"level":"info",')) console.log(line)
  })
}
