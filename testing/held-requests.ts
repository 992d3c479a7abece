import type { Page, Route } from 'playwright-core'

/**
 * Holds the matching requests of a page from now on.
 *
 * @param url A pattern of `page.route`.
 * @param then Handles each request once it is released. By default it continues.
 * @returns A function that releases them and lets later ones pass.
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
