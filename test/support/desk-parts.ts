import { screen, waitFor, within } from '@testing-library/dom'

import { sessionKey } from '../../src/client/stored-session.ts'

/** Waits for a button with exactly this name. */
export const button = (name: string): Promise<HTMLElement> => screen.findByRole('button', { name })

/** Waits for a link with this name. */
export const link = (name: string | RegExp): Promise<HTMLElement> => screen.findByRole('link', { name })

/** Waits for the heading of a screen with this name. */
export const heading = (name: string | RegExp): Promise<HTMLElement> =>
  screen.findByRole('heading', { level: 1, name })

/** Waits for the box that ticks an application of the list. */
export const box = (name: string): Promise<HTMLInputElement> =>
  screen.findByRole('checkbox', { name: `Select ${name}` })

/** Waits for a switch of a setting, and for the setting's value. */
export async function settingSwitch(name: string): Promise<HTMLElement> {
  const found = await screen.findByRole<HTMLInputElement>('switch', { name })
  await waitFor(() => {
    if (found.disabled) throw new Error(`The value of ${name} is not loaded.`)
  })
  return found
}

/** Waits for the innermost element with this text, of which parts may be in other elements, such as names. */
export const sentence = (text: RegExp): Promise<HTMLElement> =>
  screen.findByText((_, element) => {
    const hasText = ({ textContent }: Element) => text.test(textContent)
    return element !== null && hasText(element) && ![...element.children].some(hasText)
  })

/** Waits for an alert with this text. */
export const findAlert = (text: string | RegExp): Promise<HTMLElement> =>
  screen.findByText(text, { selector: '[role=alert], [role=alert] *' })

/** The words of the element that has the focus: its name, or its text. */
export function focusedWords(): string {
  const element = document.activeElement
  const labels = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
  return (
    element?.getAttribute('aria-label') ??
    (labels ? element.labels?.[0]?.textContent : undefined) ??
    element?.textContent ??
    ''
  )
}

/** The names of all rows of the list, in order. */
export const names = (): string[] => textsOf('tbody .rows-name a')

/** The row of an application in the list. */
export const row = async (name: string): Promise<HTMLTableRowElement> => {
  const found = (await link(name)).closest('tr')
  if (found === null) throw new Error(`${name} is not in the list`)
  return found
}

/** The status that the row of an application shows, with a word while it is being saved. */
export const rowStatus = (name: string): string =>
  screen.getByRole('link', { name }).closest('tr')?.querySelector('.decisions-pill')?.textContent ?? ''

/** The status that the open application shows, with a word while it is being saved. */
export const pill = (): string =>
  document.querySelector('.application-head .decisions-pill')?.textContent ?? ''

/** The tabs of the list, each with its number. */
export const tabs = (): string[] => allTabs().map(({ textContent }) => textContent.trim())

/** The tab of a status. */
export const tab = (name: string): HTMLElement =>
  allTabs().find(({ textContent }) => textContent.includes(name)) ??
  raise(new Error(`There is no tab ${name}.`))

/** The messages about decisions that were not saved. */
export const problems = (): string[] => textsOf('.desk-problems .layout-notice p:first-of-type')

/** The entries of the open application's timeline. */
export const timeline = (): string[] => textsOf('.application-timeline li')

const allTabs = () => within(screen.getByRole('navigation', { name: 'Status' })).getAllByRole('link')

const textsOf = (selector: string) =>
  [...document.querySelectorAll(selector)].map(({ textContent }) => textContent)

function raise(error: Error): never {
  throw error
}

/** Changes the stored session as if it had arrived when this browser's clock was ten minutes behind. */
export function setClockBehind(): void {
  const session = JSON.parse(localStorage.getItem(sessionKey) ?? '') as { expires_at: number }
  localStorage.setItem(sessionKey, JSON.stringify({ ...session, expires_at: session.expires_at - 600 }))
}
