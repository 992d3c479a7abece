import { countDeliveries, retryGivenUp } from '../../server/webhook/outbox.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run webhooks -- [option]

  (none)           counts the deliveries to the webhook
  --retry          tries those again that were given up`

export async function run(): Promise<void> {
  const options = readOptions({ retry: { type: 'boolean' } }, usage)
  if (options === undefined) return
  await withDatabase(async ({ owner }) => {
    if (options.retry) {
      const retried = await retryGivenUp(owner)
      console.log(`${retried} given-up ${retried === 1 ? 'delivery' : 'deliveries'} will be tried again.`)
      return
    }
    const { delivered, waiting, failing, givenUp } = await countDeliveries(owner)
    console.log(`delivered             ${delivered}`)
    console.log(`waiting               ${waiting}`)
    console.log(`failed, tried again   ${failing}`)
    console.log(`given up              ${givenUp}`)
  })
}
