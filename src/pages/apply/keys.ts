type Control = HTMLInputElement | HTMLTextAreaElement

const isControl = (target: EventTarget | null): target is Control =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement

/** Does for keys, and for a click on the custom option, what browsers do not. */
export function careForKeys(): void {
  let lastKey = ''
  let lastTarget: EventTarget | null

  document.addEventListener('keydown', (event) => {
    lastKey = event.key
    lastTarget = event.target
    if (event.key !== 'Enter' || isComposing(event) || !isControl(event.target)) return
    const next = fieldAfter(event.target, event)
    if (!next) return
    event.preventDefault()
    next.focus()
  })
  document.addEventListener('keyup', ({ target }) => {
    // By itself the browser would scroll to the field without its label.
    if (target !== lastTarget && isControl(target))
      target.closest('.field, .choice')?.scrollIntoView({ block: 'nearest' })
  })
  document.addEventListener('pointerdown', () => (lastKey = ''))
  document.addEventListener('click', ({ target }) => {
    // Not for the arrow keys, which move between the choices.
    if (!(target instanceof HTMLInputElement) || target.value !== 'custom' || lastKey.startsWith('Arrow'))
      return
    target.closest('.choice')?.querySelector('textarea')?.focus()
  })
}

/** In WebKit only the key code tells that Enter ended a composition. */
function isComposing(event: KeyboardEvent) {
  return event.isComposing || event.keyCode === 229
}

/** The field to which Enter leads; none where Enter stays the browser's. */
function fieldAfter(field: Control, { ctrlKey, altKey, metaKey, shiftKey }: KeyboardEvent) {
  // The inline script has chosen the custom option by now (`pre-hydration.ts`).
  if (field.name === 'custom_solution') return teamSize()
  const isText = field instanceof HTMLInputElement && field.required && field.type !== 'checkbox'
  if (!field.form || !isText || ctrlKey || altKey || metaKey || shiftKey) return undefined
  const fields = [...field.form.elements].filter(isControl)
  const place = fields.indexOf(field)
  // Where none is blank, Enter sends, as the browser has it.
  return [...fields.slice(place + 1), ...fields.slice(0, place)].find(({ validity }) => validity.valueMissing)
}

/** The choice that Tab comes to. */
function teamSize() {
  const choices = [...document.querySelectorAll<HTMLInputElement>('[name=team_size]')]
  return choices.find(({ checked }) => checked) ?? choices[0]
}
