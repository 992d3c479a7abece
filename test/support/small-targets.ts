import type { Page } from 'playwright-core'

/** Finds targets that are too small: less than 44 by 44 CSS pixels react to a finger (WCAG 2.5.5). Returns their HTML. */
export function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const minSize = 44
    const root = document.querySelector('dialog[open]') ?? document.body
    const targets = root.querySelectorAll(
      'a[href], button, select, input, textarea, summary, label:has(input)',
    )
    const reacts = (target: Element, x: number, y: number) => {
      const hit = document.elementFromPoint(x, y)
      return hit !== null && target.contains(hit)
    }
    const visible = [...targets].filter(
      (target) =>
        target.checkVisibility() &&
        !target.closest('.visually-hidden, .skip') &&
        !(target.matches('input') && target.closest('label')),
    )
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const small: string[] = []
    for (const target of visible) {
      const [box] = target.getClientRects()
      if (box && box.width > minSize - 0.1 && box.height > minSize - 0.1) continue
      target.scrollIntoView({ block: 'center', inline: 'center' })
      // An element with `content-visibility` reacts from the frame after it became visible.
      while (!target.checkVisibility({ contentVisibilityAuto: true })) await frame()
      const { left = 0, top = 0, width = 0, height = 0 } = target.getClientRects()[0] ?? {}
      const [x, y] = [left + width / 2, top + height / 2]
      const reach = minSize / 2 - 0.5
      const isSeen = reacts(target, x, y)
      const isHighEnough = [-reach, reach].every((by) => reacts(target, x, y + by))
      const isWideEnough = width >= minSize || [-reach, reach].every((by) => reacts(target, x + by, y))
      if (isSeen && isHighEnough && isWideEnough) continue
      small.push(`${target.outerHTML.slice(0, 90)} ${Math.round(width)} x ${Math.round(height)}`)
    }
    return small
  })
}
