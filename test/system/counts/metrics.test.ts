import { expect, test } from 'vitest'

import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { readMetrics } from '../../support/metrics.ts'
import { freePort } from '../../support/ports.ts'
import { startReceiver } from '../../support/receiver.ts'
import { dataDirectory, startServer } from '../../support/server.ts'

test('a server has metrics at METRICS_ADDRESS alone, and none at its public address', async () => {
  const { path: DATA_DIR } = await dataDirectory()
  const receiver = await startReceiver((_request, response) => response.writeHead(500).end())
  const address = `127.0.0.1:${await freePort()}`
  const settings = { DATA_DIR, WEBHOOK_URL: receiver.origin, METRICS_ADDRESS: address }
  const server = await startServer(settings)
  expect(await send(server.origin, anApplication())).toBe(201)
  await receiver.waitFor(1)
  const response = await fetch(`http://${address}/metrics`)
  expect(readMetrics(await response.text())).toMatchObject({
    unplugged_up: 1,
    'unplugged_applications{status="new"}': 1,
    'unplugged_deliveries_oldest_seconds{kind="application"}': expect.any(Number) as number,
  })
  expect((await fetch(`${server.origin}/metrics`)).status).toBe(404)
  expect(await server.stop()).toBe(0)
  await expect(fetch(`http://${address}/metrics`)).rejects.toThrow('fetch failed')
})
