/**
 * The first list, which the document's inline script draws as soon as its rows have come, until the page's script has come.
 * What is pressed and ticked meanwhile is held.
 */
import type { Listed } from '../../../client/desk/applications.ts'
import { Pill } from '../decisions/Pill.tsx'
import { afterFrame } from '../kit/after-frame.ts'
import { shortMomentOf } from '../kit/format.ts'
import { welcome } from '../kit/switches.ts'
import { ApplicationRow } from './ApplicationRow.tsx'
import { welcomeId } from './welcome-id.ts'

declare global {
  interface Window {
    /** What was done while the list was on its way; null once React shows it. */
    earlyList?: EarlyList | null
  }
}

export interface EarlyList {
  /** Keys, as `KeyboardEvent.key` has them. */
  keys: string[]
  /** The ids of the applications that are ticked. */
  ticked: Set<string>
  /** Whether a pointer is down: what it is on has to be there still when it goes up. */
  isPressed: boolean
}

/** The id of the template that the list is drawn from. */
export const blankListId = 'blank-list'

/** Pixels that a row takes at least. */
const leastHeight = 52

/** Whether the address asks for the list as it is without any filter. */
export function isFirstList(): boolean {
  return /^(#\/?)?$/.test(location.hash)
}

/**
 * Begins to hold what is done until the page's script is there, which does it again. Of keys it holds those that move, and no other:
 * nobody may decide on a row that they have not seen. What is typed into the search stays in it.
 */
export function holdEarlyActs(): void {
  const held: EarlyList = { keys: [], ticked: new Set(), isPressed: false }
  window.earlyList = held
  addEventListener('pointerdown', () => (held.isPressed = true))
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (held.isPressed = false))
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, repeat, target } = event
    if (!window.earlyList || !['j', 'k', '/'].includes(key) || ctrlKey || metaKey || altKey || repeat) return
    if (target instanceof HTMLInputElement && target.type !== 'checkbox') return
    const search = key === '/' && document.getElementById('search')
    if (search) {
      event.preventDefault()
      search.focus()
    } else held.keys.push(key)
  })
}

/** Shows rows, the newest first, unless React shows them by now or somebody went to another screen. */
export function drawEarlyList(page: HTMLElement, rows: readonly Listed[]): void {
  const template = document.getElementById(blankListId)
  const held = window.earlyList
  if (!(template instanceof HTMLTemplateElement) || !held || rows.length === 0 || !isFirstList()) return
  const { content } = template
  const body = content.querySelector('tbody')
  const draw = (some: readonly Listed[]) => body?.append(...some.map((row) => drawn(row, held)))
  const inSight = Math.ceil(innerHeight / leastHeight)
  body?.replaceChildren()
  draw(rows.slice(0, inSight))
  const hint = content.getElementById(welcomeId)
  if (!welcome.isOn()) hint?.remove()
  for (const idle of content.querySelectorAll<HTMLElement>('button, .control-tick')) idle.inert = true
  page.replaceChildren(content)
  afterFrame(() => draw(rows.slice(inSight)))
}

function drawn(row: Listed, { ticked }: EarlyList) {
  const { id, status } = row
  const element = (
    <ApplicationRow
      row={row}
      href={`#/applications/${id}`}
      when={shortMomentOf(row.created_at)}
      isSelected={false}
      isGone={false}
      isCurrent={false}
      onSelect={({ target }) => (target.checked ? ticked.add(id) : ticked.delete(id))}
    >
      <Pill status={status} />
    </ApplicationRow>
  )
  // Inline scripts make elements of the document (`dom-elements.ts`).
  return element as unknown as Element
}
