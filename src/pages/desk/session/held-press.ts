declare global {
  interface Window {
    /** The button of the form to sign in with that was pressed before the page's script came; null since that has. */
    heldPress?: HTMLElement | null
  }
}

/** Keeps what was pressed last until the form can answer, and shows that it is under way. */
export function holdPress(button: HTMLElement): void {
  if (window.heldPress === null) return
  window.heldPress?.removeAttribute('aria-busy')
  window.heldPress = button
  button.setAttribute('aria-busy', 'true')
}

/** Presses it, now that the form answers. */
export function pressHeld(): void {
  const button = window.heldPress
  window.heldPress = null
  button?.removeAttribute('aria-busy')
  button?.click()
}
