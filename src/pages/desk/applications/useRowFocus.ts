import { useEffect, useEffectEvent, useRef, useState } from 'react'

import { afterFrame } from './after-frame.ts'
import { focusById } from '../kit/focus.ts'
import { afterPress } from '../kit/listen.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'

/**
 * Tracks the row that keys act on: the one that has or last had the focus. If it disappears on a refresh after the organiser's
 * own decision, the row at its position gets the focus, and otherwise the heading. After More, the first new row gets the focus.
 *
 * @param rows The rows of the list; a new array after any change.
 * @param openId The id of the application beside the list, whose row is then the current one.
 */
export function useRowFocus(rows: readonly { id: string }[], openId: string | null) {
  const { state } = useDecisionQueue()
  const [focused, setFocused] = useState<string | null>(null)
  const current = openId ?? focused
  useFocusOnOpenedRow(openId)
  const former = useRef(rows)
  const lostPosition = useRef(0)
  const pressed = useRef<Element>(null)
  const position = rows.findIndex(({ id }) => id === current)
  const idAt = (wanted: number) => rows[Math.min(wanted, rows.length - 1)]?.id
  const focusRow = (wanted: number) => focusById(idAt(wanted))
  const onRows = useEffectEvent((newRows: typeof rows) => {
    const formerRows = former.current
    former.current = newRows
    const { activeElement, body } = document
    const formerPosition = formerRows.findIndex(({ id }) => id === current)
    if (position === -1 && formerPosition !== -1) {
      lostPosition.current = formerPosition
      // Unless this organiser decided, the next key may be meant for the application that is gone.
      const isOwnAct = state.acts.some((act) => act.has(current ?? ''))
      if (activeElement === body) focusById(isOwnAct ? idAt(formerPosition) : undefined)
    }
    if (pressed.current === null || newRows.length <= formerRows.length) return
    // The More button may have disappeared.
    if (activeElement === body || activeElement === pressed.current) focusRow(formerRows.length)
    pressed.current = null
  })
  useEffect(() => onRows(rows), [rows])
  return {
    current,
    // The decision bar could move under the pointer before the click.
    setCurrent: (id: string | null) => afterPress(() => setFocused(id)),
    /** Moves the focus by this many rows. */
    move: (by: number) => rows.length > 0 && focusRow(Math.max(position + by, 0)),
    /** The id of the application this many rows further down, limited to the first and last row. */
    rowFrom: (by: number) => idAt(Math.max(position + by, 0)),
    /** Returns the focus to the current row, or to the row at its position, if the focused element has disappeared. */
    goBack: () =>
      document.activeElement === document.body && focusRow(position === -1 ? lostPosition.current : position),
    /** Call it before more rows are read: the first new row gets the focus, unless the focus has moved. */
    onMore: () => (pressed.current = document.activeElement),
  }
}

/**
 * Shows the row of the application beside the list, and focuses it when another application opens, unless the focus is in a field
 * or on a heading.
 */
function useFocusOnOpenedRow(openId: string | null) {
  const former = useRef(openId)
  useEffect(() => {
    if (openId === null) return undefined
    const isOther = former.current !== openId
    former.current = openId
    // The application is painted first: moving the focus takes 50 ms on a slow phone.
    return afterFrame(() => {
      const row = document.getElementById(openId)
      scrollListTo(row?.closest('tr'))
      if (!isOther || document.activeElement?.matches('h1, input[type=search], select')) return
      row?.focus({ preventScroll: true })
    })
  }, [openId])
}

/** The height in pixels at the bottom of the window that the decision bar may cover. */
const barHeight = 128

/** Scrolls the list beside an application to a row, or to its beginning without one. The window does not scroll. */
function scrollListTo(row: Element | null | undefined) {
  const pane = document.getElementById('list')?.parentElement
  if (!pane) return
  if (!row) {
    pane.scrollTop = 0
    return
  }
  const { top, bottom } = row.getBoundingClientRect()
  const above = top - Math.max(pane.getBoundingClientRect().top, 0)
  pane.scrollTop += Math.min(above, 0) + Math.max(bottom - (innerHeight - barHeight), 0)
}
