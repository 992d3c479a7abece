import { randomUUID } from 'node:crypto'
import autocannon, { type Options, type Request } from 'autocannon'

import { anApplication } from '../test/support/form.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { printTable } from './table.ts'
import { connectToEmbedded } from '../test/support/sql.ts'

const seconds = 5
const connections = 100
/** Milliseconds until a receiver responds: one that responds at once, and one that is far away or busy. */
const latencies = [0, 100]

const thousands = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 0 })

/** Measures how many visits, and parts of visits, one server can serve. Also measures an application's size on disk. */
export async function benchLaunch(): Promise<void> {
  const directory = await temporaryDirectory()
  const settings = { DATA_DIR: directory.path }
  const server = await startServer(settings)
  const html = await (await fetch(server.origin)).text()
  const [, script = ''] = /data-page="\.([^"]+)"/.exec(html) ?? []
  const headers = { 'accept-encoding': 'br' }
  const get = (path: string): Request => ({ method: 'GET', path, headers })
  const insert: Request = {
    method: 'POST',
    path: '/rest/v1/retreat_applications',
    headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
    setupRequest: (request) => ({
      ...request,
      body: JSON.stringify(anApplication({ email: `${randomUUID()}@example.com` })),
    }),
  }
  const visit = [get('/'), get(script), insert]

  const rows: string[][] = []
  for (const [name, requests] of [
    ['the document', [get('/')]],
    ['its script', [get(script)]],
    ['an insert', [insert]],
    ['whole visits: document, script, insert', visit],
  ] as const) {
    const options: Options = { url: server.origin, connections, duration: seconds, requests: [...requests] }
    const { requests: rate, throughput, latency, non2xx, errors } = await autocannon(options)
    if (non2xx + errors > 0) throw new Error(`${name}: ${non2xx} were refused, ${errors} failed`)
    rows.push([
      name,
      thousands(rate.average / requests.length),
      (throughput.average / 1e6).toFixed(0),
      thousands(latency.p99),
    ])
  }
  printTable(
    `The throughput of one server (${connections} connections, ${seconds} s each)`,
    ['', 'a second', 'MB/s', 'p99 of a request, ms'],
    rows,
  )

  const admin = connectToEmbedded(directory.path)
  const [size] = await admin<{ applications: number; bytes: number }[]>`
    select count(*)::float as applications,
      (pg_total_relation_size('public.retreat_applications')
        + pg_total_relation_size('private.deliveries'))::float as bytes
    from public.retreat_applications`
  await admin.end()
  await server.stop()
  const bytesPerApplication = (size?.bytes ?? 0) / (size?.applications ?? 1)
  console.log(
    `\nOn the disk, an application like these takes ${thousands(bytesPerApplication)} bytes with its indexes and its delivery.`,
  )

  const deliveries: string[][] = []
  for (const latency of latencies) {
    const receiver = await startReceiver((_request, response) => {
      setTimeout(() => response.end(), latency)
    })
    const delivering = await startServer({ ...settings, WEBHOOK_URL: receiver.origin })
    await receiver.waitFor(100)
    const [receivedBefore, started] = [receiver.received.length, performance.now()]
    await receiver.waitFor(receivedBefore + 500)
    const elapsed = (performance.now() - started) / 1000
    deliveries.push([`${latency} ms`, thousands(500 / elapsed)])
    await delivering.stop()
    await receiver.close()
  }
  printTable('Deliveries of one server', ['the receiver responds after', 'deliveries a second'], deliveries)
  await directory.remove()
}
