import { sendingAnnouncement, sendingLabel, sendLabel } from './copy.ts'

/**
 * Shows in the form whether an application is being sent. The form belongs to the document: a translation or an extension may have
 * changed its elements, so nothing here expects them as they were.
 */
export function showSending(sending: boolean): void {
  const button = document.querySelector<HTMLButtonElement>('button[type=submit]')
  if (sending) {
    // Enter in a field also submits. The browser would then keep that field in view instead of the button.
    document.querySelector<HTMLElement>('#fields :focus')?.blur()
    button?.scrollIntoView({ block: 'nearest' })
  }
  const progress = document.getElementById('progress')
  if (progress) progress.textContent = sending ? sendingAnnouncement : ''
  // Text typed while sending would be lost. Unlike disabled fields, inert fields are still submitted.
  document.getElementById('fields')?.toggleAttribute('inert', sending)
  if (!button) return
  button.disabled = sending
  button.textContent = sending ? sendingLabel : sendLabel
}
