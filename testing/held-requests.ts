import type { Page, Route } from 'playwright-core'

/**
 * Holds the matching requests of a page from now on.
 *
 * @param url A pattern of `page.route`.
 * @param handle Handles each request once it is released. By default it continues.
 * @returns A function that releases them and lets later ones pass.
 */
export async function holdRequests(
  page: Page,
  url: string,
  handle: (route: Route) => Promise<void> = (route) => route.continue(),
): Promise<() => void> {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route(url, async (route) => {
    await released
    await handle(route)
  })
  return release
}
