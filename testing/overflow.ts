import type { Page } from 'playwright-core'

/**
 * By how much the page is wider than its window, and what sticks out, in CSS pixels.
 *
 * @param aside Selects what may: what is drawn, and what scrolls by itself.
 */
export function overflow(
  page: Page,
  aside = 'svg, .visually-hidden',
): Promise<{ scroll: number; wide: string[] }> {
  return page.evaluate((except) => {
    const width = document.documentElement.clientWidth
    const wide = [...document.querySelectorAll('body *')].filter(
      (element) => !element.closest(except) && element.getBoundingClientRect().right > width + 0.5,
    )
    return {
      scroll: document.documentElement.scrollWidth - width,
      wide: wide.map((element) => element.outerHTML.slice(0, 80)),
    }
  }, aside)
}
