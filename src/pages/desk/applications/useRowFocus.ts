import { useEffect, useEffectEvent, useRef, useState } from 'react'

import { focusApplication } from '../kit/focus.ts'
import { listenTo } from '../kit/listen.ts'

/**
 * The row that keys act on: the one that has the focus, or had it last. Where it is gone when the list is read again, the row in
 * its place gets the focus. After More it is the first new row.
 *
 * @param rows Those of the list. They are another array whenever any of them is another.
 * @param shown The application that is shown beside the list: its row is the one then.
 */
export function useRowFocus(rows: readonly { id: string }[], shown: string | null) {
  const [focused, setFocused] = useState<string | null>(null)
  const setCurrent = useAfterPress(setFocused)
  const current = shown ?? focused
  useRowOfShown(shown)
  const former = useRef(rows)
  const lostPlace = useRef(0)
  const pressed = useRef<Element>(null)
  const place = rows.findIndex(({ id }) => id === current)
  const focusRow = (wanted: number) => focusApplication(rows[Math.min(wanted, rows.length - 1)]?.id)
  const onRows = useEffectEvent((now: typeof rows) => {
    const before = former.current
    former.current = now
    const { activeElement, body } = document
    const formerPlace = before.findIndex(({ id }) => id === current)
    if (place === -1 && formerPlace !== -1) {
      lostPlace.current = formerPlace
      if (activeElement === body) focusRow(formerPlace)
    }
    if (pressed.current === null || now.length <= before.length) return
    // The button may have disappeared.
    if (activeElement === body || activeElement === pressed.current) focusRow(before.length)
    pressed.current = null
  })
  useEffect(() => onRows(rows), [rows])
  return {
    current,
    setCurrent,
    /** Moves the focus by so many rows. */
    move: (by: number) => rows.length > 0 && focusRow(Math.max(place + by, 0)),
    /** The application so many rows from there; the first or the last one where there are not so many. */
    rowFrom: (by: number) => rows[Math.min(Math.max(place + by, 0), rows.length - 1)]?.id,
    /** Moves the focus to the row again, or to the one in its place, where what had it is gone. */
    goBack: () =>
      document.activeElement === document.body && focusRow(place === -1 ? lostPlace.current : place),
    /** Has the first row that comes next get the focus, unless that goes elsewhere meanwhile. */
    onMore: () => (pressed.current = document.activeElement),
  }
}

/** Has the row of the application get the focus that is shown next, unless somebody types in the list or begins at its heading. */
function useRowOfShown(shown: string | null) {
  const former = useRef(shown)
  useEffect(() => {
    if (shown === null || former.current === shown) return
    former.current = shown
    if (document.activeElement?.matches('h1, input[type=search], select')) return
    document.getElementById(shown)?.focus()
  }, [shown])
}

/**
 * Has something wait for the end of the press that brings it about: what appears then, such as the bar of decisions, must not come
 * between the beginning of a click and its end.
 */
function useAfterPress<Given>(act: (given: Given) => void) {
  const press = useRef({ isDown: false, waiting: [] as Given[] })
  const onUp = useEffectEvent(() => {
    const { waiting } = press.current
    press.current = { isDown: false, waiting: [] }
    for (const given of waiting) act(given)
  })
  useEffect(() => {
    const endDown = listenTo('pointerdown')(() => (press.current.isDown = true))
    const endUp = listenTo('pointerup', 'pointercancel')(onUp)
    return () => {
      endDown()
      endUp()
    }
  }, [])
  return (given: Given) => (press.current.isDown ? void press.current.waiting.push(given) : act(given))
}
