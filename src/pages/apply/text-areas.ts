const fromRightToLeft = /[\u0590-\u08ff\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/
const manyCombiningMarks = /\p{M}{99}/u

/** Grows text areas in browsers that cannot do it by CSS, and keeps the layout of very long words quick. */
export function improveTextAreas(): void {
  const canGrow = CSS.supports('field-sizing', 'content')
  const improve = (field: EventTarget | null) => {
    if (!(field instanceof HTMLTextAreaElement)) return
    const { style, value } = field
    // Very long words are slow to lay out unless they may break anywhere.
    const words = value.split(/\s/).filter(({ length }) => length > 999)
    style.lineBreak = words.length > 0 ? 'anywhere' : ''
    // Illegible text takes browsers seconds to lay out; showing dots takes no time.
    const isIllegible = words.some((word) => fromRightToLeft.test(word)) || manyCombiningMarks.test(value)
    style.setProperty('-webkit-text-security', isIllegible ? 'disc' : null)
    if (!canGrow) grow(field)
  }
  const improveAll = () => document.querySelectorAll('textarea').forEach(improve)
  document.addEventListener('input', ({ target }) => improve(target))
  // The fields are blank once the script that resets the form has ended.
  document.addEventListener('reset', () => queueMicrotask(improveAll))
  improveAll()
}

function grow(field: HTMLTextAreaElement) {
  field.style.height = 'auto'
  const edges = field.offsetHeight - field.clientHeight
  if (field.scrollHeight > field.clientHeight) field.style.height = `${field.scrollHeight + edges}px`
}
