import { daysOf } from '../../application/calendar.ts'

/**
 * Creates an element.
 *
 * @param properties Its properties, such as `className`.
 * @param content Its children; a string becomes text.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const created = Object.assign(document.createElement(tag), properties)
  created.append(...content)
  return created
}

/** Creates a paragraph that can get the focus. */
export function sentence(...content: (Node | string)[]): HTMLParagraphElement {
  return element('p', { tabIndex: -1 }, ...content)
}

/** Creates a button. The second click of a double click would press what replaces it. */
export function button(label: string, className: string, press: () => void): HTMLButtonElement {
  return element(
    'button',
    { onclick: (event) => event.detail < 2 && press(), className, type: 'button' },
    label,
  )
}

/**
 * Creates an element that writes a date such as `2026-12-31` in words, with a full stop. The element stays on one line if it
 * fits.
 */
export function dayOf(date: string): HTMLElement {
  return element('span', {}, daysOf({ starts_on: date, ends_on: date }), '.')
}
