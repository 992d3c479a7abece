import type { Page } from 'playwright-core'

/**
 * Measures by how many CSS pixels the page is wider than its window, and finds the elements that overflow.
 *
 * @param allowedToOverflow Selects elements that may overflow: drawings, hidden parts, and parts with their own scrolling.
 */
export function overflow(
  page: Page,
  allowedToOverflow = 'svg, .visually-hidden',
): Promise<{ scroll: number; wide: string[] }> {
  return page.evaluate((ignored) => {
    const width = document.documentElement.clientWidth
    const wide = [...document.querySelectorAll('body *')].filter(
      (element) => !element.closest(ignored) && element.getBoundingClientRect().right > width + 0.5,
    )
    return {
      scroll: document.documentElement.scrollWidth - width,
      wide: wide.map((element) => element.outerHTML.slice(0, 80)),
    }
  }, allowedToOverflow)
}

/** Finds the words that are broken across two lines. */
export function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const broken: string[] = []
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.parentElement?.closest('script, style, noscript, .visually-hidden')) continue
      for (const { 0: word, index } of (text.textContent ?? '').matchAll(/[^\s-]+/g)) {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        const lines = new Set([...range.getClientRects()].map(({ top }) => top))
        if (lines.size > 1) broken.push(word)
      }
    }
    return broken
  })
}
