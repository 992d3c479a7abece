/**
 * Creates an element.
 *
 * @param content Its children; a string becomes text.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag)
  created.append(...content)
  return created
}

/** Creates a paragraph that can get the focus. */
export function sentence(...content: (Node | string)[]): HTMLParagraphElement {
  const created = element('p', ...content)
  created.tabIndex = -1
  return created
}

/** Creates a button. */
export function button(label: string, className: string, press: () => void): HTMLButtonElement {
  const created = element('button', label)
  created.type = 'button'
  created.className = className
  created.addEventListener('click', press)
  return created
}

/**
 * Creates an element that writes a date such as `2026-12-31` in words, with a full stop. The element stays on one line if it
 * fits. The date is the same in every time zone.
 */
export function dayOf(date: string): HTMLElement {
  const day = new Date(date).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  return element('span', day, '.')
}
