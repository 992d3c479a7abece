import { pressEnds } from '../kit/listen.ts'
import { go, routeOf } from '../data/route.ts'
import type { WatchedSession } from '../session/watch-session.ts'
import { checkboxId } from './ApplicationRow.tsx'
import { isFirstList, type EarlyInput } from './early-list.tsx'

/**
 * Keeps the early list in the document until React has something to show.
 *
 * @param page The page element of the document.
 * @returns The element for React to render into. If there is an early list, it is a new element, which replaces `page` as soon as
 *   React has the list or another screen to show. Otherwise it is `page`.
 */
export function elementForReact(page: HTMLElement, session: WatchedSession): HTMLElement {
  if (!window.earlyInput || !isFirstList()) {
    window.earlyInput = null
    return page
  }
  const detached = page.cloneNode() as HTMLElement
  let isShowPending = false
  const show = () => {
    const input = window.earlyInput
    if (!input) return
    if (input.isPointerDown) return void (isShowPending = true)
    observer.disconnect()
    window.earlyInput = null
    const focused = document.activeElement?.id
    const search = page.querySelector('input')?.value
    page.replaceWith(detached)
    const route = routeOf(location.hash)
    if (search && route.screen === 'list') {
      go({ ...route, filters: { ...route.filters, search } }, { replace: true })
    }
    if (focused) document.getElementById(focused)?.focus()
    void replay(input)
  }
  // The list without its placeholder, or an error. Observers are called before the next paint.
  const hasContent = () => detached.querySelector('h1') && !detached.querySelector('#list > p[aria-busy]')
  const observer = new MutationObserver(() => hasContent() && show())
  observer.observe(detached, { childList: true, subtree: true })
  // The timeout lets the click event run first.
  for (const end of pressEnds) addEventListener(end, () => setTimeout(() => isShowPending && show()))
  // Other screens take the focus when they are rendered, so they must be in the document.
  session.subscribe(() => session.state().step !== 'in' && show())
  addEventListener('popstate', show)
  return detached
}

/** Replays each input in its own task, so that React has rendered the previous one. */
async function replay({ ticked, keys }: EarlyInput) {
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
