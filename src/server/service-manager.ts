import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Milliseconds for systemd's program, which waits until systemd has read the message. */
const timeout = 5_000

/**
 * Tells systemd that the server is ready, if it waits for that (`Type=notify`). Node.js cannot send to systemd's kind of socket, so
 * systemd's own program does.
 *
 * @param environment The variables, in which systemd names its socket.
 */
export async function notifyReady(environment = process.env): Promise<void> {
  if (!environment['NOTIFY_SOCKET']) return
  await promisify(execFile)('systemd-notify', ['--ready'], { env: environment, timeout })
}
