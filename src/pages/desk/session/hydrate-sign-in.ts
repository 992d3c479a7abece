import type { ReactNode } from 'react'
import { hydrateRoot, type Root } from 'react-dom/client'

const controlsOf = (root: HTMLElement) => [...root.querySelectorAll<HTMLInputElement>('input, button')]

/**
 * Hydrates the sign-in form, which keeps the text that was already typed. If a translation or an extension has changed the form,
 * React renders it again, and text, focus and a held press carry over.
 */
export function hydrateSignIn(root: HTMLElement, desk: ReactNode): Root {
  const former = controlsOf(root)
  const indexOf = (element?: Element | null) => former.indexOf(element as HTMLInputElement)
  const focused = indexOf(document.activeElement)
  let pressed = indexOf(window.heldPress)
  const onRecoverableError = () => {
    const now = controlsOf(root)
    former.forEach(({ value }, index) => {
      const control = now[index]
      if (control && value) control.value = value
    })
    now[focused]?.focus()
    now[pressed]?.click()
    // React may report several differences.
    pressed = -1
  }
  return hydrateRoot(root, desk, { onRecoverableError })
}
