import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds that calls of files are waited for. */
const grace = 2_000
const pause = 50

/**
 * Ends the process, also where a call of a file never comes back: Node.js waits for its threads when it exits, whatever they
 * do. Then the process ends by SIGTERM, and has no exit code.
 *
 * @param code The exit code; the one that is set, unless given.
 */
export async function leave(code = process.exitCode): Promise<never> {
  const areFilesBusy = () => process.getActiveResourcesInfo().some((name) => /^FSReq|^CloseReq$/.test(name))
  for (let waited = 0; areFilesBusy() && waited < grace; waited += pause) await wait(pause)
  if (areFilesBusy()) {
    process.removeAllListeners('SIGTERM')
    process.kill(process.pid, 'SIGTERM')
  }
  process.exit(code)
}
