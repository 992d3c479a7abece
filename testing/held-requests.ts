import type { Page, Route } from 'playwright-core'

/**
 * Holds the requests of a page that match, from now on.
 *
 * @param url As `page.route` takes it.
 * @param then What is done with each once it may go; it goes on unless given.
 * @returns Lets them go, and those that come later.
 */
export async function holdRequests(
  page: Page,
  url: string,
  then: (route: Route) => Promise<void> = (route) => route.continue(),
): Promise<() => void> {
  let letGo = () => {}
  const released = new Promise<void>((resolve) => (letGo = resolve))
  await page.route(url, async (route) => {
    await released
    await then(route)
  })
  return letGo
}
