import { useEffect, useEffectEvent, useRef } from 'react'

/** Moves the focus from an element that is about to disappear to another one, or to the beginning of the screen. */
export function focusOn(element: Element | null | undefined): void {
  if (element instanceof HTMLElement) element.focus()
  else focusHeading()
}

/** The same for an application in the list, by its id. */
export function focusApplication(id: string | undefined): void {
  focusOn(id === undefined ? null : document.getElementById(id))
}

/** Puts the focus where the screen begins. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus()
}

/** For the ref of a heading: a screen that is opened begins there, and not where the one before was left. */
export function beginAt(heading: HTMLElement | null): void {
  scrollToTop(heading)
  heading?.focus({ preventScroll: true })
}

/** For the ref of a heading: a screen is seen from its beginning. */
export function scrollToTop(heading: HTMLElement | null): void {
  if (heading !== null) scrollTo(0, 0)
}

/** For the ref of an element that disappears by itself: where the focus is in it, it goes to where the screen begins. */
export function leaveForHeading(element: HTMLElement): () => void {
  return () => {
    if (element.contains(document.activeElement)) focusHeading()
  }
}

/** For the ref of an element that gets the focus as soon as it is there. */
export function focus(element: HTMLElement | null): void {
  element?.focus()
}

/** The same where nothing has the focus: somebody may have moved on before the page's script came. */
export function focusUnlessElsewhere(element: HTMLElement | null): void {
  if (document.activeElement === document.body) element?.focus()
}

/** Does something once what was shown is gone, such as the form that a button opened: the focus was in it, and goes back. */
export function useWhenGone(isShown: boolean, goBack: () => void): void {
  const wasShown = useRef(isShown)
  const onGone = useEffectEvent(goBack)
  useEffect(() => {
    if (wasShown.current && !isShown) onGone()
    wasShown.current = isShown
  }, [isShown])
}
