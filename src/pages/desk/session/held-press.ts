declare global {
  interface Window {
    /** The button of the sign-in form that was pressed before the page's script came; null once the script is there. */
    heldPress?: HTMLElement | null
  }
}

/** Keeps the last pressed button until the form works, and shows that the press is under way. */
export function holdPress(button: HTMLElement): void {
  if (window.heldPress === null) return
  window.heldPress?.removeAttribute('aria-busy')
  window.heldPress = button
  button.setAttribute('aria-busy', 'true')
}

/** Presses that button, now that the form works. */
export function pressHeld(): void {
  const button = window.heldPress
  window.heldPress = null
  button?.removeAttribute('aria-busy')
  button?.click()
}
