import { overdueAfter } from '../backups/scheduled.ts'
import { lateAfter } from '../deliveries/overview.ts'

/** The numbers of `/readyz` that show whether something is stuck. */
interface Numbers {
  oldestUndeliveredSeconds: number | null
  deliveriesGivenUp: number
  mailFailingSince: Date | null
  newestBackupSeconds: number | null
  backupsFailingSince: string | null
}

/**
 * Lists what is stuck so that an operator has to act, as sentences. Refused letters are no part of it: organisers see to them at
 * the desk.
 *
 * @param now The time in milliseconds.
 */
export function findStuck(numbers: Numbers, now = Date.now()): string[] {
  const { oldestUndeliveredSeconds, deliveriesGivenUp, mailFailingSince, newestBackupSeconds } = numbers
  const { backupsFailingSince } = numbers
  const isMailLate = mailFailingSince !== null && now - mailFailingSince.getTime() > lateAfter * 1000
  return [
    (oldestUndeliveredSeconds ?? 0) > lateAfter && 'Applications do not reach the webhook: npm run webhooks.',
    deliveriesGivenUp > 0 && 'Deliveries to the webhook were given up: npm run webhooks.',
    isMailLate && 'The mail server accepts no email: npm run letters.',
    backupsFailingSince !== null && 'Backups fail: see the log.',
    (newestBackupSeconds ?? 0) > overdueAfter && 'The backup of the last day is missing: see the log.',
  ].filter((sentence) => sentence !== false)
}
