import type { MailServer } from '../../settings/mail-settings.ts'
import { compose, loadComposer, type Message } from './compose.ts'
import { createMailConnection, type HandoverResult } from './handover.ts'
import type { MailLook } from './layout.tsx'

/**
 * Sends one email over its own connection.
 *
 * @param timeout Timeout in milliseconds, from the connection to the last reply.
 * @returns The result, including every failure of the mail server.
 * @throws {Error} if the message cannot be composed as an email.
 */
export async function send(
  message: Message,
  mailServer: MailServer,
  look: MailLook,
  timeout?: number,
): Promise<HandoverResult> {
  const mail = await compose(message, mailServer.from, look)
  const connection = createMailConnection(mailServer, timeout)
  const result = await connection.handOver(mail)
  await connection.close()
  return result
}

/** Loads the libraries that emails need, so that the first email is as fast as the others. */
export async function preload(): Promise<void> {
  await Promise.all([loadComposer(), import('nodemailer/lib/smtp-connection')])
}
