/** The fragment says where the desk is, so the link must not change it. */
export function skipToContent(event: { preventDefault: () => void }): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

/** For what has the focus and is about to go: it is put on the application in the list, or on the screen's heading. */
export function focusApplication(id: string | undefined): void {
  const link = id === undefined ? null : document.getElementById(id)
  if (link) link.focus()
  else focusHeading()
}

/** Puts the focus where the screen begins. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus()
}

/** For the ref of a heading: whoever opens a screen begins there, and not where the one before was left. */
export function beginAt(heading: HTMLElement | null): void {
  if (heading === null) return
  scrollTo(0, 0)
  heading.focus({ preventScroll: true })
}
