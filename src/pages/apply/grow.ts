/** Lets text areas grow with what is written, in browsers whose style cannot do that (`field-sizing`). */
export function growTextAreas(): void {
  if (CSS.supports('field-sizing', 'content')) return
  document.addEventListener('input', ({ target }) => grow(target))
  document.querySelectorAll('textarea').forEach(grow)
}

function grow(field: EventTarget | null) {
  if (!(field instanceof HTMLTextAreaElement)) return
  field.style.height = 'auto'
  const edges = field.offsetHeight - field.clientHeight
  if (field.scrollHeight > field.clientHeight) field.style.height = `${field.scrollHeight + edges}px`
}
