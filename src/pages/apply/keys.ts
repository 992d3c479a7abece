import { isComposing } from '../composition.ts'
import { isControl, type Control } from './control.ts'

const arrows = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']

/**
 * Adds keyboard behaviour that browsers lack: Enter moves to the next blank field, and a field that gets the focus by a key is
 * scrolled into view with its label. A click on the custom option focuses its text box.
 */
export function addKeyBehaviour(): void {
  let isArrowDown = false
  let lastTarget: EventTarget | null

  document.addEventListener('keydown', (event) => {
    // Browsers dispatch a `keydown` without a key after they have filled in a field.
    isArrowDown = arrows.includes(event.key)
    lastTarget = event.target
    if (event.key !== 'Enter' || isComposing(event) || !isControl(event.target)) return
    const next = fieldAfter(event.target, event)
    if (!next) return
    event.preventDefault()
    next.focus()
  })
  document.addEventListener('keyup', ({ target }) => {
    isArrowDown = false
    // The browser would scroll to the field without its label.
    if (target !== lastTarget && isControl(target))
      target.closest('.field, .choice')?.scrollIntoView({ block: 'nearest' })
  })
  document.addEventListener('click', ({ target }) => {
    // Arrow keys move between the choices, and click each.
    if (!(target instanceof HTMLInputElement) || target.value !== 'custom' || isArrowDown) return
    target.closest('.choice')?.querySelector('textarea')?.focus()
  })
}

/** The field that Enter moves to; undefined to keep the browser's behaviour. */
function fieldAfter(field: Control, { ctrlKey, altKey, metaKey, shiftKey }: KeyboardEvent) {
  const isText = field instanceof HTMLInputElement && field.required && field.type !== 'checkbox'
  if (!field.form || !isText || ctrlKey || altKey || metaKey || shiftKey) return undefined
  const fields = [...field.form.elements].filter(isControl)
  const index = fields.indexOf(field)
  // If no field is blank, Enter submits the form.
  return [...fields.slice(index + 1), ...fields.slice(0, index)].find(({ validity }) => validity.valueMissing)
}
