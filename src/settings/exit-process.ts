import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds to wait for pending file operations. */
const grace = 2_000
/** Milliseconds between two checks for pending file operations. */
const pause = 50

/**
 * Ends the process even if a file operation hangs. Node.js would wait for the thread of the operation, so SIGTERM then ends the
 * process, without an exit code.
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
