import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import type { Browser, CDPSession, Page } from 'playwright-core'

/** The cost of a first visit: transferred bytes, requests, and milliseconds to the first and to the largest paint. */
export interface VisitCost {
  bytes: number
  requests: number
  firstPaint: number
  largestPaint: number
}

/** Makes a page as slow as on a slow phone: 150 ms round trip, 1.6 Mbit/s, a processor four times slower. */
export async function slowDown(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: (1.6 * 1024 * 1024) / 8,
    uploadThroughput: (750 * 1024) / 8,
  })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  return devtools
}

/** Opens a page as on a slow phone, and measures its cost. */
export async function measureVisit(browser: Browser, url: string): Promise<VisitCost> {
  const page = await browser.newPage({ viewport: { width: 412, height: 823 } })
  const devtools = await slowDown(page)
  let bytes = 0
  let requests = 0
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
    requests += 1
  })
  await page.goto(url)
  const timeOf = (type: 'paint' | 'largest-contentful-paint') =>
    page.evaluate(
      (observed) =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => {
            const entry = list.getEntries().findLast(({ name }) => name !== 'first-paint')
            if (entry) resolve(entry.startTime)
          }).observe({ type: observed, buffered: true })
        }),
      type,
    )
  const firstPaint = await timeOf('paint')
  const largestPaint = await timeOf('largest-contentful-paint')
  await page.close()
  return { bytes, requests, firstPaint, largestPaint }
}

/**
 * Serves the same document at every path, compressed in advance, so that a request costs as little as possible.
 *
 * @param backend The server to which the document's calls of the data interface are forwarded.
 */
export async function serveDocument(html: string, headers: Record<string, string> = {}, backend?: string) {
  const body = brotliCompressSync(html)
  const server = createServer((incoming, response) => {
    const { url = '/', method, headers: requestHeaders } = incoming
    if (backend !== undefined && url.startsWith('/rest/')) {
      const call = request(new URL(url, backend), { method, headers: requestHeaders }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(response)
      })
      return incoming.pipe(call)
    }
    return response
      .writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-encoding': 'br',
        'content-length': body.length,
        ...headers,
      })
      .end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() }
}
