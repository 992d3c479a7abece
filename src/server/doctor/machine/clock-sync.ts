import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { notKnown, ok, wrong } from '../../finding.ts'

const run = promisify(execFile)
/** Timeout of the program that is asked, in milliseconds. */
const timeout = 5_000

/**
 * Checks that NTP keeps this machine's clock. The clock of a database on this machine is the same one, and shows nothing.
 *
 * @param read Returns what systemd knows about the kernel's clock; rejects if systemd does not run here.
 */
export async function checkNtp(read: () => Promise<string> = askSystemd) {
  const answer = await read().catch(() => '')
  switch (answer.trim()) {
    case 'yes':
      return ok("NTP keeps this machine's clock.")
    case 'no':
      return wrong(
        "NTP does not keep this machine's clock, which dates codes, deadlines and backups: timedatectl set-ntp true.",
      )
    default:
      return notKnown("timedatectl, which knows whether NTP keeps this machine's clock, did not answer.")
  }
}

async function askSystemd() {
  const { stdout } = await run('timedatectl', ['show', '--property=NTPSynchronized', '--value'], { timeout })
  return stdout
}
