import type { Page, ViewportSize } from 'playwright-core'

/**
 * Resizes the window, and resolves in its next frame. Until then, elements can still have the sizes that container queries gave
 * them at the former width.
 */
export async function resize(page: Page, size: ViewportSize): Promise<void> {
  await page.setViewportSize(size)
  await page.evaluate(() => new Promise(requestAnimationFrame))
}
