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

/** Milliseconds without a key after which somebody has stopped typing. */
const typingPause = 2_000
/** Until when keys are meant for a field that has disappeared, as the time stamp of an event. */
let typingUntil = 0

/** Whether a key is meant for a field that has just disappeared, because of another organiser's change. */
export function isStillTyping({ timeStamp }: KeyboardEvent): boolean {
  if (timeStamp > typingUntil) return false
  typingUntil = timeStamp + typingPause
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
  /** The element with the focus, and when a character was typed into it last. */
  let last: { element: Element; isByKeyboard: boolean; typedAt: number } | undefined
  const remember = ({ target }: Event) => {
    if (!(target instanceof Element)) return
    last = { element: target, isByKeyboard: target.matches(':focus-visible'), typedAt: -Infinity }
    if (!last.isByKeyboard) typingUntil = 0
  }
  // Somebody who leaves an element wants nothing focused when it disappears later.
  const forget = ({ target }: Event) =>
    queueMicrotask(() => {
      if (last?.element === target && last?.element.isConnected) last = undefined
    })
  const rememberTyping = (event: Event) => {
    // Autofill in browsers dispatches a `keydown` that is not a keyboard event.
    if (!(event instanceof KeyboardEvent)) return
    const { key, timeStamp, ctrlKey, metaKey, altKey } = event
    const isText = key.length === 1 && !ctrlKey && !metaKey && !altKey
    if (!isText) typingUntil = 0
    if (last) last.typedAt = isText && isTypingTarget(last.element) ? timeStamp : -Infinity
  }
  const observer = new MutationObserver(() => {
    if (last === undefined || last.element.isConnected) return
    const { isByKeyboard, typedAt } = last
    last = undefined
    typingUntil = typedAt + typingPause
    const focusHeadingIfNothing = () => {
      if (document.activeElement === document.body)
        document.querySelector('h1')?.focus({ preventScroll: !isByKeyboard })
    }
    requestAnimationFrame(() => setTimeout(focusHeadingIfNothing))
  })
  const listeners = { focusin: remember, focusout: forget, keydown: rememberTyping }
  // Before the shortcuts of screens.
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener, true)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener, true)
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
