import { countDeliveries, retryFailing, retryGivenUp } from '../../server/webhook/outbox.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run webhooks -- [option]

  (none)           counts the deliveries to the webhook
  --retry          tries those again that were given up
  --retry --all    tries at once also those that wait for their next try, once the receiver is mended`

const deliveries = (count: number) => `${count} ${count === 1 ? 'delivery' : 'deliveries'}`

export async function run(): Promise<void> {
  const options = readOptions({ retry: { type: 'boolean' }, all: { type: 'boolean' } }, usage)
  if (options === undefined) return
  if (options.all && !options.retry) throw new OperatorError('--all goes with --retry.')
  await withDatabase(async ({ owner }) => {
    if (!options.retry) return print(await countDeliveries(owner))
    console.log(`${deliveries(await retryGivenUp(owner))} that had been given up will be tried again.`)
    if (options.all) {
      console.log(`${deliveries(await retryFailing(owner))} that waited for the next try will be tried now.`)
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

function print({ delivered, waiting, failing, givenUp }: Awaited<ReturnType<typeof countDeliveries>>) {
  console.log(`delivered             ${delivered}`)
  console.log(`waiting               ${waiting}`)
  console.log(`failed, tried again   ${failing}`)
  console.log(`given up              ${givenUp}`)
}
