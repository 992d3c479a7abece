/** Cares for text areas where their style cannot: for how high they are, and for words without an end. */
export function careForTextAreas(): void {
  const canGrow = CSS.supports('field-sizing', 'content')
  const care = (field: EventTarget | null) => {
    if (!(field instanceof HTMLTextAreaElement)) return
    // Browsers look for long where such a word may be broken, unless that is anywhere.
    field.style.lineBreak = /\S{999}/.test(field.value) ? 'anywhere' : ''
    if (!canGrow) grow(field)
  }
  document.addEventListener('input', ({ target }) => care(target))
  document.querySelectorAll('textarea').forEach(care)
}

function grow(field: HTMLTextAreaElement) {
  field.style.height = 'auto'
  const edges = field.offsetHeight - field.clientHeight
  if (field.scrollHeight > field.clientHeight) field.style.height = `${field.scrollHeight + edges}px`
}
