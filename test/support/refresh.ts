import type { Page, Request } from 'playwright-core'

import { until } from './until.ts'

/** The requests of a page: how many there were, those without a complete response, and that of a document to come. */
interface Traffic {
  count: number
  pending: Set<Request>
  navigation?: Request | undefined
}

const trafficOf = new WeakMap<Page, Traffic>()

/** Counts the requests of a page for {@link settle}. To be called before the page is opened. */
export function countRequests(page: Page): void {
  const traffic: Traffic = { count: 0, pending: new Set() }
  const end = (request: Request) => traffic.pending.delete(request)
  page.on('request', (request) => {
    // A file in the address of its link is saved. This request neither finishes nor fails.
    if (request.url().startsWith('data:')) return
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) traffic.navigation = request
    traffic.count += 1
    traffic.pending.add(request)
  })
  page.on('framenavigated', (frame) => {
    const { navigation, pending } = traffic
    if (navigation === undefined || frame !== page.mainFrame()) return
    // A new document ends the requests of the former one, which sends some until then. Not all are reported as failed.
    for (const request of pending) if (request !== navigation) pending.delete(request)
    traffic.navigation = undefined
  })
  page.on('requestfinished', end)
  page.on('requestfailed', (request) => {
    end(request)
    if (request === traffic.navigation) traffic.navigation = undefined
  })
  trafficOf.set(page, traffic)
}

/**
 * Waits until a page has received and shown all that it requested, and requests nothing more. A read that is still pending is
 * not repeated by a refresh, so the page would miss what changed meanwhile.
 */
export async function settle(page: Page): Promise<void> {
  const traffic = trafficOf.get(page)
  if (traffic === undefined) throw new Error('The requests of this page are not counted.')
  let count: number
  do {
    await until(
      () => `a response to ${Array.from(traffic.pending, (request) => request.url()).join(' and ')}`,
      () => traffic.pending.size === 0,
    )
    count = traffic.count
    // A response is painted, and then causes further requests (`afterFrame`).
    for (let frame = 0; frame < 2; frame += 1) {
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
    }
  } while (traffic.pending.size > 0 || traffic.count !== count)
}

/** Lets a page with an installed clock read again all that it reads regularly. */
export async function refresh(page: Page): Promise<void> {
  await settle(page)
  await page.clock.fastForward(30_000)
}

/** Tells a page that its window became active, so that it reads again what it shows. */
export async function activateWindow(page: Page): Promise<void> {
  await settle(page)
  await page.evaluate(() => dispatchEvent(new Event('focus')))
}
