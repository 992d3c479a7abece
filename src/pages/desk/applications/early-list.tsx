/**
 * The list that opens first. The document's inline script draws it as soon as its rows arrive, before the page's script has
 * loaded. Until then, keys and ticks are stored, to be replayed.
 */
import type { ListedApplication } from '../../../client/desk/applications.ts'
import { Pill } from '../decisions/Pill.tsx'
import { afterFrame } from './after-frame.ts'
import { shortMomentOf } from '../kit/format.ts'
import { pressEnds } from '../kit/listen.ts'
import { ApplicationRow } from './ApplicationRow.tsx'

declare global {
  interface Window {
    /** Keys and ticks that are stored while the page's script loads; null once React shows the list. */
    earlyInput?: EarlyInput | null
  }
}

/** The input that was given to the list before React took it over. */
export interface EarlyInput {
  /** Keys, by their `KeyboardEvent.key`. */
  keys: string[]
  /** The ids of the ticked applications. */
  ticked: Set<string>
  /** Whether a pointer is down. Its target must exist until the pointer is up. */
  isPointerDown: boolean
}

/** The id of the `<template>` element with the list. */
export const blankListId = 'blank-list'

/** Minimum height of a row in pixels. */
const minRowHeight = 52

/** Whether the address shows the list without any filter. */
export function isFirstList(): boolean {
  return /^(#\/?)?$/.test(location.hash)
}

/**
 * Starts to store keys and ticks until the page's script replays them. Of the keys, only `j`, `k` and `/` are
 * stored: nobody may decide on a row that they have not seen. Text typed into the search field stays in the field.
 */
export function storeEarlyInput(): void {
  const input: EarlyInput = { keys: [], ticked: new Set(), isPointerDown: false }
  window.earlyInput = input
  addEventListener('pointerdown', () => (input.isPointerDown = true))
  for (const end of pressEnds) addEventListener(end, () => (input.isPointerDown = false))
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, repeat, target } = event
    if (!window.earlyInput || !['j', 'k', '/'].includes(key) || ctrlKey || metaKey || altKey || repeat) return
    if (target instanceof HTMLInputElement && target.type !== 'checkbox') return
    const search = key === '/' && document.getElementById('search')
    if (search) {
      event.preventDefault()
      search.focus()
    } else input.keys.push(key)
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
  const input = window.earlyInput
  if (!(template instanceof HTMLTemplateElement) || !input || rows.length === 0 || !isFirstList()) return
  const { content } = template
  const body = content.querySelector('tbody')
  const draw = (some: readonly ListedApplication[]) =>
    body?.append(...some.map((row) => createRow(row, input)))
  const visibleCount = Math.ceil(innerHeight / minRowHeight)
  body?.replaceChildren()
  draw(rows.slice(0, visibleCount))
  for (const each of content.querySelectorAll<HTMLElement>('button, .control-tick')) each.inert = true
  page.replaceChildren(content)
  afterFrame(() => draw(rows.slice(visibleCount)))
}

function createRow(row: ListedApplication, { ticked }: EarlyInput) {
  const { id, status } = row
  const element = (
    <ApplicationRow
      row={row}
      href={`#/applications/${id}`}
      when={shortMomentOf(row.created_at)}
      isSelectable
      isSelected={false}
      isErased={false}
      isCurrent={false}
      onSelect={({ target }) => (target.checked ? ticked.add(id) : ticked.delete(id))}
    >
      <Pill status={status} tab="new" />
    </ApplicationRow>
  )
  // In inline scripts, JSX creates DOM elements (`dom-elements.ts`).
  return element as unknown as Element
}
