import { useEffect, useEffectEvent, useRef } from 'react'

/**
 * Moves the focus to an element, or to the heading of the screen if there is none. Call it before the focused element disappears.
 */
export function focusOn(element: Element | null | undefined): void {
  if (element instanceof HTMLElement) element.focus()
  else focusHeading()
}

/** Moves the focus to the element with an id, or to the heading of the screen if there is none. */
export function focusById(id: string | undefined): void {
  focusOn(id === undefined ? null : document.getElementById(id))
}

/** Moves the focus to the heading of the screen. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus()
}

/** Ref callback for the heading of a screen: scrolls to the top and focuses the heading. */
export function focusAtTop(heading: HTMLElement | null): void {
  scrollToTop(heading)
  heading?.focus({ preventScroll: true })
}

/** Ref callback for the heading of a screen: scrolls to the top. */
export function scrollToTop(heading: HTMLElement | null): void {
  if (heading !== null) scrollTo(0, 0)
}

/** The field that last received a character, and the event's time stamp in milliseconds. */
let lastTyped: { field: Element; at: number } | undefined
/** Milliseconds without a key after which somebody has stopped typing. */
const typingPause = 2_000

/** Whether a key is meant for a field that has just disappeared, because of another organiser's change. */
export function isStillTyping({ timeStamp }: KeyboardEvent): boolean {
  if (lastTyped === undefined || lastTyped.field.isConnected || timeStamp - lastTyped.at > typingPause)
    return false
  lastTyped.at = timeStamp
  return true
}

/** Whether keys pressed in an element are text. In an open dialog they always are. */
export function isTypingTarget(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]')) return true
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.matches('textarea, select, input:not([type="checkbox"], [type="radio"])')
  )
}

/**
 * Gives the focus to the heading of the screen whenever the element that has it disappears, unless something else gets the focus
 * until the next frame. The page does not scroll if the element was pressed with a pointer. Keys for a field that has disappeared
 * are remembered as such (`isStillTyping`).
 *
 * @returns A function that ends this.
 */
export function keepFocus(): () => void {
  let last: { element: Element; isByKeyboard: boolean } | undefined
  const remember = ({ target }: Event) => {
    if (target instanceof Element) last = { element: target, isByKeyboard: target.matches(':focus-visible') }
  }
  // Somebody who leaves an element wants nothing focused when it disappears later.
  const forget = ({ target }: Event) =>
    queueMicrotask(() => {
      if (last?.element === target && last?.element.isConnected) last = undefined
    })
  const observer = new MutationObserver(() => {
    if (last === undefined || last.element.isConnected) return
    const { isByKeyboard } = last
    last = undefined
    const focusHeadingIfNothing = () => {
      if (document.activeElement === document.body)
        document.querySelector('h1')?.focus({ preventScroll: !isByKeyboard })
    }
    requestAnimationFrame(() => setTimeout(focusHeadingIfNothing))
  })
  const rememberTyping = (event: Event) => {
    // Autofill in browsers dispatches a `keydown` that is not a keyboard event.
    if (!(event instanceof KeyboardEvent)) return
    const { target, key, timeStamp, ctrlKey, metaKey, altKey } = event
    if (key.length > 1 || ctrlKey || metaKey || altKey) lastTyped = undefined
    else if (target instanceof Element && isTypingTarget(target)) lastTyped = { field: target, at: timeStamp }
  }
  const forgetTyping = () => (lastTyped = undefined)
  addEventListener('focusin', remember)
  addEventListener('focusout', forget)
  // Before the shortcuts of screens.
  addEventListener('keydown', rememberTyping, true)
  addEventListener('click', forgetTyping)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    removeEventListener('focusin', remember)
    removeEventListener('focusout', forget)
    removeEventListener('keydown', rememberTyping, true)
    removeEventListener('click', forgetTyping)
    observer.disconnect()
  }
}

/** Ref callback for a button that may disappear: if it has the focus then, the first button of its row gets it. */
export function focusRowOnRemoval(element: HTMLElement | null): () => void {
  const row = element?.parentElement
  return () => {
    if (element?.contains(document.activeElement)) focusOn(row?.querySelector('button'))
  }
}

/** Ref callback that focuses an element when it appears. */
export function focus(element: HTMLElement | null): void {
  element?.focus()
}

/** Ref callback that focuses an element unless something else has the focus: people may act before the script has loaded. */
export function focusUnlessElsewhere(element: HTMLElement | null): void {
  if (document.activeElement === document.body) element?.focus()
}

/** Whether the focus is in an element, or nowhere: a button that disappeared had it. */
export function hasFocus(element: Element | null): boolean {
  const { activeElement } = document
  return activeElement === document.body || element?.contains(activeElement) === true
}

/** Calls `onHidden` after something that had the focus was hidden, such as a form. The focus stays where it is otherwise. */
export function useOnHidden(isShown: boolean, onHidden: () => void): void {
  const wasShown = useRef(isShown)
  const callOnHidden = useEffectEvent(onHidden)
  useEffect(() => {
    if (wasShown.current && !isShown && hasFocus(null)) callOnHidden()
    wasShown.current = isShown
  }, [isShown])
}
