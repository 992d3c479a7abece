import { randomUUID } from 'node:crypto'

import type { Look } from '../../design/look.ts'
import { lookOf } from '../../pages/look.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { hostAndPort } from '../../settings/mail-settings.ts'
import { runCheck, notSet, ok, oneLine, wrong, type Finding } from '../finding.ts'
import { withFullStop } from '../../design/look.ts'
import { send } from '../mail/send.ts'
import { deliver } from '../deliveries/webhook.ts'

/** Timeout of a test email and of a test delivery, in milliseconds. */
const timeout = 30_000

/** The `type` of a test delivery. No other delivery has a field `type`. */
const type = 'test'

/**
 * Sends a test email, and a test delivery to each webhook that is set. They bypass the outboxes: no server has to run, and
 * nothing is stored.
 *
 * @param to The recipient of the email.
 */
export function sendTests(
  to: string,
  { mailServer, look, webhookUrl, webhookDecisionsUrl, webhookSecret: secret }: Settings,
): Promise<Finding>[] {
  const delivery = (about: string, name: string, url: string | undefined) =>
    runCheck(about, timeout, () => sendDelivery(name, url, secret))
  return [
    runCheck('test mail', timeout, () => sendMail(to, mailServer, lookOf(look, {}))),
    delivery('test delivery', 'WEBHOOK_URL', webhookUrl),
    ...(webhookDecisionsUrl === undefined
      ? []
      : [delivery('test decision', 'WEBHOOK_DECISIONS_URL', webhookDecisionsUrl)]),
  ]
}

async function sendMail(to: string, mailServer: Settings['mailServer'], look: Look) {
  if (mailServer === undefined) return notSet('No test email was sent: SMTP_URL is not set.')
  const id = randomUUID()
  const body =
    'This is a test by the doctor. If it is in your spam folder, see what the doctor says about the sender.'
  const why = {
    text: `You receive this email because somebody tested the emails of ${withFullStop(look.title)}`,
  }
  const handover = await send(
    { id, to, subject: `[Test] ${look.title} can write to you`, body, why },
    mailServer,
    look,
    timeout,
  )
  const address = Object.values(hostAndPort(mailServer)).join(':')
  switch (handover.result) {
    case 'done':
      return ok(`${address} accepted an email to ${to}: check whether it arrives, and in which folder.`)
    case 'failed':
    case 'waiting':
      return wrong(`${address} did not accept an email to ${to}: ${oneLine(handover.reply)}.`)
    case 'unavailable':
      return wrong(`No email was sent: ${oneLine(handover.problem)}.`)
    case 'aborted':
      return wrong('No email was sent: it was aborted.')
  }
}

async function sendDelivery(name: string, url: string | undefined, secret: string | undefined) {
  if (url === undefined) return notSet(`No test delivery was sent: ${name} is not set.`)
  const content = new URLSearchParams({ type, sentAt: new Date().toISOString() })
  const { delivered, status, text } = await deliver(`test_${randomUUID()}`, content, { url, secret })
  const origin = new URL(url).origin
  if (delivered) return ok(`${origin} took a delivery of the type "${type}" (${status}).`)
  const reply = [status ?? 'no answer', oneLine(text)].filter((part) => part !== '').join(': ')
  return wrong(
    `${origin} did not take a test delivery (${reply}): check ${name} and the program at that address.`,
  )
}
