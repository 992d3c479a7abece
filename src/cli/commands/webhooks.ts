import { countOf } from '../../application/count.ts'
import {
  countDeliveries,
  listUndeliveredApplications,
  retryFailingApplications,
  retryGivenUpApplications,
  type UndeliveredApplication,
} from '../../server/deliveries/overview.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { localTime, onOneLine } from '../formats.ts'
import { readOptions } from '../options.ts'
import { writeLines } from '../output.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: ${commandLine('webhooks', '[option]')}

  (none)           counts the deliveries to the webhook
  --list           lists failed deliveries, with the last response and the time of the next try, if any
  --retry          retries deliveries that were given up
  --retry --all    also retries waiting deliveries at once, such as when the receiver works again`

/** Deliveries that are read from the database at a time. */
const batchSize = 500

const deliveries = (count: number) => countOf(count, 'delivery', 'deliveries')

/** Runs `npm run webhooks`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    { list: { type: 'boolean' }, retry: { type: 'boolean' }, all: { type: 'boolean' } },
    usage,
  )
  if (options === undefined) return
  if (options.list && options.retry) {
    throw new OperatorError('Use either --list or --retry.')
  }
  if (options.all && !options.retry) throw new OperatorError('--all goes with --retry.')
  await withDatabase(async ({ owner }) => {
    if (options.list) {
      return owner.begin('read only', (sql) =>
        writeLines(listUndeliveredApplications(sql, batchSize), lineOf),
      )
    }
    if (!options.retry) return print(await countDeliveries(owner))
    console.log(
      `${deliveries(await retryGivenUpApplications(owner))} that had been given up will be tried again.`,
    )
    if (options.all) {
      console.log(
        `${deliveries(await retryFailingApplications(owner))} that waited for the next try will be tried now.`,
      )
      return
    }
    const { failing } = await countDeliveries(owner)
    if (failing > 0) {
      console.log(
        `Still waiting for the next try of the schedule: ${deliveries(failing)}. With --all they are tried now.`,
      )
    }
  })
}

function lineOf({ id, email, at, attempts, nextAt, status, reply }: UndeliveredApplication) {
  const tries = countOf(attempts, 'try', 'tries')
  const next = nextAt === null ? `given up after ${tries}` : `${tries}, next ${localTime(nextAt)}`
  const response = [status ?? 'no answer', reply].filter((part) => part !== '').join(': ')
  return [localTime(at), next, id, email, response].map(onOneLine).join('  ')
}

function print({ delivered, waiting, failing, givenUp }: Awaited<ReturnType<typeof countDeliveries>>) {
  console.log(`delivered             ${delivered}`)
  console.log(`waiting               ${waiting}`)
  console.log(`failed, tried again   ${failing}`)
  console.log(`given up              ${givenUp}`)
}
