import { commandLine } from '../../settings/command-to-copy.ts'
import type { Settings } from '../../settings/server-settings.ts'
import type { ReadOnlyDatabase } from '../database/database.ts'
import { notSet, ok, oneLine, wrongIf } from '../finding.ts'
import { countLetters, mailSenderState } from '../letters/overview.ts'
import { countDeliveries, countRefusals, deliveryHealth, lateAfter } from '../deliveries/overview.ts'

/** Returns a sentence with another program's last response, without email addresses: a response may quote an applicant's. */
function lastResponse(text: string) {
  return `The last response: ${oneLine(text).replaceAll(/\S*@\S*/g, '(address)') || 'none'}.`
}

const quantity = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

/** Checks the deliveries to the webhook. */
export async function checkWebhook({ read }: ReadOnlyDatabase, { webhookUrl }: Pick<Settings, 'webhookUrl'>) {
  const { counts, oldest, refusals } = await read(async (sql) => ({
    counts: await countDeliveries(sql),
    oldest: (await deliveryHealth(sql)).oldestUndeliveredSeconds,
    refusals: await countRefusals(sql, ['application']),
  }))
  const waiting = counts.waiting + counts.failing
  if (webhookUrl === undefined) {
    return notSet(
      waiting > 0 ? `WEBHOOK_URL is not set; ${waiting} wait for one.` : 'WEBHOOK_URL is not set.',
    )
  }
  return (
    wrongIf([
      counts.givenUp > 0 &&
        `${quantity(counts.givenUp, 'delivery was', 'deliveries were')} given up: ${commandLine('webhooks', '--list')} says why, --retry tries again.`,
      refusals !== undefined &&
        refusals.failing > 0 &&
        `${quantity(refusals.failing, 'delivery', 'deliveries')} failed and will be tried again: ${commandLine('webhooks', '--list')} says why, --retry --all tries at once.`,
      refusals !== undefined &&
        lastResponse([refusals.status ?? 'none', refusals.text].filter((part) => part !== '').join(': ')),
      oldest !== null &&
        oldest > lateAfter &&
        `${quantity(waiting, 'delivery waits', 'deliveries wait')}, the oldest for ${Math.round(oldest / 60)} minutes: ${commandLine('webhooks', '--list')} says why.`,
    ]) ?? ok(`${counts.delivered} delivered, ${waiting} waiting, none given up.`)
  )
}

/** Checks the letters, and the deliveries of decisions and RSVPs to automations. */
export async function checkLetters({ read }: ReadOnlyDatabase, { mailServer }: Pick<Settings, 'mailServer'>) {
  const { counts, mailSender, refusals } = await read(async (sql) => ({
    counts: await countLetters(sql),
    mailSender: await mailSenderState(sql),
    refusals: await countRefusals(sql, ['letter', 'receipt', 'decision', 'rsvp']),
  }))
  const waiting = counts.waiting + counts.sending
  const failed = counts.refused + counts.givenUp
  return (
    wrongIf([
      failed > 0 &&
        `${counts.refused} refused and ${counts.givenUp} given up: ${commandLine('letters', '--list')} says why, --retry tries again.`,
      counts.webhooksFailed > 0 &&
        `${quantity(counts.webhooksFailed, 'decision or RSVP', 'decisions or RSVPs')} could not be sent to the automation: ${commandLine('letters', '--list')} says why.`,
      refusals !== undefined &&
        refusals.failing > 0 &&
        `${refusals.failing} failed and will be tried again: ${commandLine('letters', '--list')} says why.`,
      refusals !== undefined && lastResponse(refusals.text),
      mailSender.isStopped &&
        waiting > 0 &&
        `${waiting} wait, and letters are stopped: ${commandLine('letters', '--start')} sends them.`,
      waiting > 0 &&
        !mailSender.isRunning &&
        mailServer === undefined &&
        `${waiting} wait, and no server hands letters over: set SMTP_URL and MAIL_FROM.`,
      waiting > 0 &&
        !mailSender.isRunning &&
        mailServer !== undefined &&
        `${waiting} wait, and no server runs that hands letters over: start it.`,
      mailSender.problem !== '' && `Sending is paused: ${oneLine(mailSender.problem)}.`,
    ]) ?? ok(`${counts.sent} sent, ${waiting} waiting, none refused or given up.`)
  )
}
