import { isControl } from './control.ts'

/**
 * Whether a control can be changed while the door is closed. A text that somebody has typed is read-only instead of disabled, so
 * that it can be selected and copied, and screen readers read it.
 *
 * @param text The text of a text field; omitted for other controls.
 */
export function lockOf(isClosed: boolean, text = ''): { readOnly: boolean; disabled: boolean } {
  return { readOnly: isClosed && text !== '', disabled: isClosed && text === '' }
}

/** Locks the form while the door is closed, and unlocks it when the door opens. */
export function lockForm(form: HTMLFormElement, isClosed: boolean): void {
  // An open form's button belongs to `showSending`.
  if (!isClosed && !form.classList.contains('closed')) return
  form.classList.toggle('closed', isClosed)
  for (const control of form.elements) {
    const isText = isControl(control) && control.type !== 'radio' && control.type !== 'checkbox'
    if (isControl(control) || control instanceof HTMLButtonElement)
      Object.assign(control, lockOf(isClosed, isText ? control.value : undefined))
  }
}
