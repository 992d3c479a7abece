import type { MailServer } from '../../settings/mail-settings.ts'
import { compose, type Message } from './compose.ts'
import { createHandover, type HandoverResult } from './handover.ts'

/**
 * Sends one mail over a connection of its own.
 *
 * @param limit Milliseconds, from the connection to the last reply.
 * @returns The result; every failure of the mail server is one.
 * @throws Where the message cannot be written as a mail.
 */
export async function send(
  message: Message,
  mailServer: MailServer,
  limit?: number,
): Promise<HandoverResult> {
  const mail = await compose(message, mailServer.from)
  const handover = createHandover(mailServer, limit)
  const result = await handover.give(mail)
  await handover.end()
  return result
}

/** Loads ahead of the first mail what mails need, so that it takes no longer than the others. */
export async function preload(): Promise<void> {
  await Promise.all([import('nodemailer/lib/mail-composer'), import('nodemailer/lib/smtp-connection')])
}
