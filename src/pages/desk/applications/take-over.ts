import { go, routeOf } from '../kit/route.ts'
import type { WatchedSession } from '../session/watch-session.ts'
import { isFirstList } from './early-list.ts'

/**
 * Lets React render outside of the page as long as it shows less than the document, which may have the first list by now.
 *
 * @param page What the document shows.
 * @returns What React is to render into. It takes the page's place as soon as it has the list or anything else to show.
 */
export function placeToRender(page: HTMLElement, session: WatchedSession): HTMLElement {
  if (!window.heldKeys || !isFirstList()) {
    window.heldKeys = null
    return page
  }
  const aside = page.cloneNode() as HTMLElement
  const show = () => {
    const keys = window.heldKeys
    if (!keys) return
    window.heldKeys = null
    observer.disconnect()
    const focused = document.activeElement?.id
    const search = page.querySelector('input')?.value
    page.replaceWith(aside)
    const place = routeOf(location.hash)
    if (search && place.screen === 'list') {
      go({ ...place, filters: { ...place.filters, search } }, { replace: true })
    }
    if (focused) document.getElementById(focused)?.focus()
    void play(keys)
  }
  const observer = new MutationObserver(
    () => aside.querySelector('#opening, p[aria-busy]') === null && show(),
  )
  observer.observe(aside, { childList: true, subtree: true })
  // Any other screen takes the focus as soon as it is rendered, and for that it has to be in the document.
  session.subscribe(() => session.now().step !== 'in' && show())
  addEventListener('popstate', show)
  return aside
}

/** Each in a task of its own: React has to have shown what the one before did. */
async function play(keys: readonly string[]) {
  for (const key of keys) {
    const target = document.activeElement ?? document.body
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    await new Promise((resolve) => setTimeout(resolve))
  }
}
