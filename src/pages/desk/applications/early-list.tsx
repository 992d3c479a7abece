/**
 * The list that opens first. The document's inline script draws it as soon as its rows arrive, before the page's script has
 * loaded. Until then, keys and ticks are stored, to be replayed.
 */
import type { ListedApplication } from '../../../client/desk/applications.ts'
import { Pill } from '../decisions/Pill.tsx'
import { afterFrame } from '../kit/after-frame.ts'
import { shortMomentOf } from '../kit/format.ts'
import { welcome } from '../kit/switches.ts'
import { ApplicationRow } from './ApplicationRow.tsx'
import { welcomeId } from './welcome-id.ts'

declare global {
  interface Window {
    /** Keys and ticks that are held while the page's script loads; null once React shows the list. */
    heldInput?: HeldInput | null
  }
}

/** The input that was given to the list before React took it over. */
export interface HeldInput {
  /** Keys, by their `KeyboardEvent.key`. */
  keys: string[]
  /** The ids of the ticked applications. */
  ticked: Set<string>
  /** Whether a pointer is down. Its target must exist until the pointer is up. */
  isPressed: boolean
}

/** The id of the template for the list. */
export const blankListId = 'blank-list'

/** Minimum height of a row in pixels. */
const minRowHeight = 52

/** Whether the address shows the list without any filter. */
export function isFirstList(): boolean {
  return /^(#\/?)?$/.test(location.hash)
}

/**
 * Starts to hold keys and ticks until the page's script replays them. Of the keys, only `j`, `k` and `/` are
 * held: nobody may decide on a row that they have not seen. Text typed into the search field stays in the field.
 */
export function holdEarlyInput(): void {
  const held: HeldInput = { keys: [], ticked: new Set(), isPressed: false }
  window.heldInput = held
  addEventListener('pointerdown', () => (held.isPressed = true))
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (held.isPressed = false))
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, repeat, target } = event
    if (!window.heldInput || !['j', 'k', '/'].includes(key) || ctrlKey || metaKey || altKey || repeat) return
    if (target instanceof HTMLInputElement && target.type !== 'checkbox') return
    const search = key === '/' && document.getElementById('search')
    if (search) {
      event.preventDefault()
      search.focus()
    } else held.keys.push(key)
  })
}

/**
 * Draws the rows, unless React already shows them or another screen is open.
 *
 * @param page The element whose content is replaced.
 * @param rows The applications, newest first.
 */
export function drawEarlyList(page: HTMLElement, rows: readonly ListedApplication[]): void {
  const template = document.getElementById(blankListId)
  const held = window.heldInput
  if (!(template instanceof HTMLTemplateElement) || !held || rows.length === 0 || !isFirstList()) return
  const { content } = template
  const body = content.querySelector('tbody')
  const draw = (some: readonly ListedApplication[]) =>
    body?.append(...some.map((row) => createRow(row, held)))
  const visibleCount = Math.ceil(innerHeight / minRowHeight)
  body?.replaceChildren()
  draw(rows.slice(0, visibleCount))
  const welcomeSection = content.getElementById(welcomeId)
  if (!welcome.isOn()) welcomeSection?.remove()
  for (const each of content.querySelectorAll<HTMLElement>('button, .control-tick')) each.inert = true
  page.replaceChildren(content)
  afterFrame(() => draw(rows.slice(visibleCount)))
}

function createRow(row: ListedApplication, { ticked }: HeldInput) {
  const { id, status } = row
  const element = (
    <ApplicationRow
      row={row}
      href={`#/applications/${id}`}
      when={shortMomentOf(row.created_at)}
      isSelected={false}
      isErased={false}
      isCurrent={false}
      onSelect={({ target }) => (target.checked ? ticked.add(id) : ticked.delete(id))}
    >
      <Pill status={status} />
    </ApplicationRow>
  )
  // In inline scripts, JSX creates DOM elements (`dom-elements.ts`).
  return element as unknown as Element
}
