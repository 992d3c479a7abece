import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds to wait for pending calls of files. */
const grace = 2_000
const pause = 50

/**
 * Ends the process even where a call of a file hangs: Node.js waits for its threads when it exits. In that case the process ends
 * by SIGTERM, without an exit code.
 *
 * @param code The exit code; default `process.exitCode`.
 */
export async function exitProcess(code = process.exitCode): Promise<never> {
  const areFilesBusy = () => process.getActiveResourcesInfo().some((name) => /^FSReq|^CloseReq$/.test(name))
  for (let waited = 0; areFilesBusy() && waited < grace; waited += pause) await wait(pause)
  if (areFilesBusy()) {
    process.removeAllListeners('SIGTERM')
    process.kill(process.pid, 'SIGTERM')
  }
  process.exit(code)
}
