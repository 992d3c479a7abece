const fromRightToLeft = /[\u0590-\u08ff\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/
const piledMarks = /\p{M}{99}/u

/** Does for text areas what their style cannot: it sets their height, and keeps the layout of long words quick. */
export function careForTextAreas(): void {
  const canGrow = CSS.supports('field-sizing', 'content')
  const care = (field: EventTarget | null) => {
    if (!(field instanceof HTMLTextAreaElement)) return
    const { style, value } = field
    // Very long words are slow to lay out unless they may be broken anywhere.
    const words = value.split(/\s/).filter(({ length }) => length > 999)
    style.lineBreak = words.length > 0 ? 'anywhere' : ''
    // Nobody reads these, and browsers take seconds to lay them out: a dot for each sign takes none.
    const isIllegible = words.some((word) => fromRightToLeft.test(word)) || piledMarks.test(value)
    style.setProperty('-webkit-text-security', isIllegible ? 'disc' : null)
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
