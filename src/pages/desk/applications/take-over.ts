import { go, routeOf } from '../kit/route.ts'
import { onScreenLoaded } from '../kit/screen-loaded.ts'
import type { WatchedSession } from '../session/watch-session.ts'
import { checkboxId } from './ApplicationRow.tsx'
import { isFirstList, type HeldInput } from './early-list.tsx'

/**
 * Lets React render outside the document until React has something to show: the document may already show the early list.
 *
 * @param page The page element of the document.
 * @returns The element for React. It replaces `page` when React has the list or another screen to show.
 */
export function elementForReact(page: HTMLElement, session: WatchedSession): HTMLElement {
  if (!window.heldInput || !isFirstList()) {
    window.heldInput = null
    return page
  }
  const detached = page.cloneNode() as HTMLElement
  let isShowPending = false
  const show = () => {
    const held = window.heldInput
    if (!held) return
    if (held.isPressed) return void (isShowPending = true)
    window.heldInput = null
    const focused = document.activeElement?.id
    const search = page.querySelector('input')?.value
    page.replaceWith(detached)
    const route = routeOf(location.hash)
    if (search && route.screen === 'list') {
      go({ ...route, filters: { ...route.filters, search } }, { replace: true })
    }
    if (focused) document.getElementById(focused)?.focus()
    void replay(held)
  }
  onScreenLoaded(show)
  // The timeout lets the click event run first.
  for (const end of ['pointerup', 'pointercancel'])
    addEventListener(end, () => setTimeout(() => isShowPending && show()))
  // Other screens take the focus when they are rendered, so they must be in the document.
  session.subscribe(() => session.state().step !== 'in' && show())
  addEventListener('popstate', show)
  return detached
}

/** Replays each input in its own task, so that React has rendered the previous one. */
async function replay({ ticked, keys }: HeldInput) {
  const nextTask = () => new Promise((resolve) => setTimeout(resolve))
  for (const id of ticked) {
    await nextTask()
    document.getElementById(checkboxId(id))?.click()
  }
  for (const key of keys) {
    await nextTask()
    const target = document.activeElement ?? document.body
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  }
}
