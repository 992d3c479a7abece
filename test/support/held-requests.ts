import type { Page, Route } from 'playwright-core'
import { deferred } from './deferred.ts'

/**
 * Holds further requests of a page that match.
 *
 * @param url A pattern of `page.route`.
 * @param handle Handles each request after its release. By default the request continues.
 * @returns A function that releases the held requests and lets later ones pass.
 */
export async function holdRequests(
  page: Page,
  url: string | RegExp,
  handle: (route: Route) => Promise<void> = (route) => route.continue(),
): Promise<() => void> {
  const { promise: released, resolve: release } = deferred()
  await page.route(url, async (route) => {
    await released
    await handle(route)
  })
  return release
}
