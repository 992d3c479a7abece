import { go, routeOf } from '../kit/route.ts'
import { onShown } from '../kit/shown.ts'
import type { WatchedSession } from '../session/watch-session.ts'
import { boxOf } from './ApplicationRow.tsx'
import { isFirstList, type EarlyList } from './early-list.tsx'

/**
 * Lets React render outside of the page as long as it shows less than the document, which may have the first list by now.
 *
 * @param page What the document shows.
 * @returns What React is to render into. It takes the page's place as soon as it has the list or anything else to show.
 */
export function placeToRender(page: HTMLElement, session: WatchedSession): HTMLElement {
  if (!window.earlyList || !isFirstList()) {
    window.earlyList = null
    return page
  }
  const aside = page.cloneNode() as HTMLElement
  let isLate = false
  const show = () => {
    const held = window.earlyList
    if (!held) return
    if (held.isPressed) return void (isLate = true)
    window.earlyList = null
    const focused = document.activeElement?.id
    const search = page.querySelector('input')?.value
    page.replaceWith(aside)
    const place = routeOf(location.hash)
    if (search && place.screen === 'list') {
      go({ ...place, filters: { ...place.filters, search } }, { replace: true })
    }
    if (focused) document.getElementById(focused)?.focus()
    void play(held)
  }
  onShown(show)
  // After the click.
  for (const end of ['pointerup', 'pointercancel'])
    addEventListener(end, () => setTimeout(() => isLate && show()))
  // Any other screen takes the focus as soon as it is rendered, and for that it has to be in the document.
  session.subscribe(() => session.now().step !== 'in' && show())
  addEventListener('popstate', show)
  return aside
}

/** Each in a later task of its own: React has to have shown what was before. */
async function play({ ticked, keys }: EarlyList) {
  const turn = () => new Promise((resolve) => setTimeout(resolve))
  for (const id of ticked) {
    await turn()
    document.getElementById(boxOf(id))?.click()
  }
  for (const key of keys) {
    await turn()
    const target = document.activeElement ?? document.body
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  }
}
