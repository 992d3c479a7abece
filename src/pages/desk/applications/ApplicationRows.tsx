import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'

import { statuses, type Status } from '../../../application/statuses.ts'
import type { Acceptances, SelectedApplication } from '../../../client/desk/applications.ts'
import type { Count } from '../../../client/desk/count.ts'
import { decisionKeys, goesOnAfter } from '../decisions/decide.ts'
import { useAnnounced } from '../kit/announce.tsx'
import type { Filters } from '../data/filters.ts'
import { focusById, focusHeading, useOnHidden } from '../kit/focus.ts'
import { nameOf } from '../data/names.ts'
import { formatNumber } from '../kit/format.ts'
import { countsOf } from '../data/decision-sentences.ts'
import type { SeenApplication } from '../data/decision-state.ts'
import type { List } from '../data/list.ts'
import { useMedia } from '../kit/useMedia.ts'
import { go } from '../data/route.ts'
import { useDesk, useDecisionQueue } from '../data/useDesk.tsx'
import { autoAdvance } from '../data/switches.ts'
import { useSwitch } from '../kit/switches.ts'
import { useKeys } from '../kit/useKeys.ts'
import { ApplicationListHead } from './ApplicationListHead.tsx'
import { ApplicationTable } from './ApplicationTable.tsx'
import type { DeferredParts } from './deferred-parts.ts'
import { emptySelection, rangeTo, select, selectAllMatching, selectedOf } from './selection.ts'
import type { Changes } from './useList.ts'
import { useRowFocus } from './useRowFocus.ts'

/** The window sizes in which the decision bar covers much of the list. Keep them the same as in decisions.css. */
const smallWindow = '(width <= 44rem), (height <= 28rem)'

interface ApplicationRowsProps {
  list: List
  /** Whether another list is loading. */
  isStale: boolean
  filters: Filters
  changes: Changes
  /** Number of applications that match the filter, once known. */
  matching: Count | undefined
  acceptances: Acceptances | undefined
  /** The id of the application beside the list; null without one. */
  openId: string | null
  /** The parts that load after the list. */
  deferred: DeferredParts | undefined
  /** Called with whether any row is ticked. */
  onTicking: (isTicking: boolean) => void
  /** Called with the id of an application opened by keyboard, and with null after a move to another row by keyboard. */
  onEnter: (id: string | null) => void
}

/** The rows of a list, with selection and decisions. */
export function ApplicationRows(props: ApplicationRowsProps) {
  const { list, isStale, filters, changes, matching, acceptances, openId, deferred, onTicking, onEnter } =
    props
  const desk = useDesk()
  const { isReader } = desk
  const queries = useQueryClient()
  const { queue } = useDecisionQueue()
  const { applications: rows, filter } = list
  const { erased, withdrawn, letters, rsvps, marks, newNotes } = changes
  const [selection, setSelection] = useState(emptySelection)
  const highlighterOf = deferred?.highlighterOf
  const highlight = useMemo(() => highlighterOf?.(filter.search ?? ''), [highlighterOf, filter.search])
  const { current, setCurrent, move, rowFrom, goBack, onMore } = useRowFocus(rows, openId)
  // The recipients in the letter dialog. The bar stays visible for them while the list changes.
  const [recipients, setRecipients] = useState<readonly SeenApplication[]>([])
  useOnHidden(recipients.length > 0, goBack)

  const rowIds = new Set(rows.map(({ id }) => id))
  const presentRows = rows.filter(({ id }) => !erased.has(id))
  const notShown = selection.allMatching.filter(({ id }) => !rowIds.has(id) && !erased.has(id))
  const known: SelectedApplication[] = [...presentRows, ...notShown]
  const versions = known.map((row) => ({ id: row.id, version: queue.currentOf(row).version }))
  const selected = selectedOf(selection, versions)
  const choose = (ids: readonly string[], isOn: boolean) =>
    setSelection(select(selection, versions, ids, isOn))
  const selectNone = () => setSelection(emptySelection)
  // "Select all" leaves out rows whose status has changed since the list was read.
  const matchesStatus = (row: SelectedApplication) =>
    [undefined, queue.currentOf(row).status].includes(filter.status)
  const selectableIds = presentRows.filter(matchesStatus).map(({ id }) => id)
  const isAllSelected = selectableIds.length > 0 && selectableIds.every((id) => selected.has(id))
  const toDecide = known
    .filter(({ id }) => (selected.size > 0 ? selected.has(id) : id === current))
    .map((row): SeenApplication => ({
      id: row.id,
      name: nameOf(row),
      status: row.status,
      version: row.version,
      isWithdrawn: withdrawn.has(row.id),
    }))
  const isTicking = selected.size > 0
  const isAutoAdvancing = useSwitch(autoAdvance)
  useEffect(() => {
    onTicking(isTicking)
    return () => onTicking(false)
  }, [isTicking, onTicking])
  // While no row is ticked, the application beside the list has the bar and its keys.
  const takesDecisions = !isReader && (openId === null || isTicking || recipients.length > 0)
  // On small windows the bar would cover the list, so it is hidden while no row is ticked.
  const isBarHidden = useMedia(smallWindow) && selected.size === 0

  // If others changed all ticked rows, none is selected, and the next key applies to the focused row.
  const leftOutCount = selection.ticked.size - selected.size
  const isAllLeftOut = leftOutCount > 0 && selected.size === 0
  const leftOutWords = `${formatNumber(leftOutCount)} changed since you selected them; not included`
  const changed = presentRows.filter((row) => queue.isChanged(row) && !selection.ticked.has(row.id))
  useAnnounced(isAllLeftOut ? leftOutWords : '')
  useAnnounced(
    changesSentence(changed.map((row) => ({ name: nameOf(row), status: queue.currentOf(row).status }))),
  )

  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: () => {
      if (current === null) return
      onEnter(current)
      go({ screen: 'application', id: current, filters })
    },
    ...(!isReader && { x: () => current !== null && choose([current], !selected.has(current)) }),
    Escape: () => (isTicking || openId === null ? selectNone() : go({ screen: 'list', filters })),
    ...(takesDecisions && decisionKeys(queue, toDecide, { onDecided, onUndone })),
  })

  return (
    <>
      <ApplicationListHead
        {...{ filter, matching, changes, deferred, isAllSelected }}
        isEmpty={rows.length === 0}
        selectedCount={selected.size}
        onSelectShown={(isOn) => (isOn ? choose(selectableIds, true) : selectNone())}
        onSelectMatching={(all) => setSelection(selectAllMatching(all))}
        onRefresh={() => {
          // The new rows follow the heading.
          focusHeading()
          void queries.refetchQueries({ queryKey: desk.list(filter).queryKey })
        }}
      />
      {rows.length > 0 && (
        <ApplicationTable
          {...{
            rows,
            isStale,
            letters,
            rsvps,
            marks,
            newNotes,
            withdrawn,
            filters,
            selected,
            current,
            erased,
            highlight,
          }}
          onSelect={(id, isOn, isRange) => choose(isRange ? rangeTo(selection, versions, id) : [id], isOn)}
          {...{ onEnter }}
          onCurrent={setCurrent}
        />
      )}
      {deferred && <deferred.ApplicationListFoot {...{ list, onMore }} />}
      {takesDecisions && deferred && (
        <deferred.DecisionBar
          applications={recipients.length > 0 ? recipients : isBarHidden ? [] : toDecide}
          about={barText(toDecide)}
          {...{ acceptances, onDecided, onUndone }}
        >
          <deferred.LetterWriteMany
            recipients={recipients}
            onOpen={() => setRecipients(toDecide)}
            onClosed={() => setRecipients([])}
          />
        </deferred.DecisionBar>
      )}
    </>
  )

  function onDecided(status: Status) {
    selectNone()
    if (isTicking || !isAutoAdvancing || !goesOnAfter(status, filter)) return
    const position = rows.findIndex(({ id }) => id === current)
    const next = rows.slice(position + 1).find((row) => !erased.has(row.id) && matchesStatus(row))
    if (next) focusById(next.id)
  }

  function onUndone(id: string) {
    if (isAutoAdvancing) document.getElementById(id)?.focus()
  }

  /** Moves the focus by this many rows. If an application is shown beside the list, shows the application of the new row. */
  function step(by: number) {
    if (openId === null) return move(by)
    const id = rowFrom(by)
    // Replaces the address, so that Back returns to the list in one step.
    if (id === undefined) return
    onEnter(null)
    go({ screen: 'application', id, filters }, { replace: true })
  }

  /** The text of the bar: one name, or the number of selected rows and remarks about rows that changed. */
  function barText([only, ...others]: readonly SeenApplication[]) {
    const someLeftOut = leftOutCount > 0 && !isAllLeftOut
    if (only !== undefined && others.length === 0 && !someLeftOut) return only.name
    const otherStatuses = toDecide
      .filter((each) => !matchesStatus(each))
      .map((each) => queue.currentOf(each).status)
    const remarks = countsOf(otherStatuses)
    if (someLeftOut) remarks.push(leftOutWords)
    return [`${formatNumber(toDecide.length)} selected`, ...remarks].join(', ')
  }
}

/** A sentence about changes by others in the rows shown; blank without any. */
function changesSentence([one, ...others]: readonly Pick<SeenApplication, 'name' | 'status'>[]) {
  if (one === undefined) return ''
  return others.length === 0
    ? `${one.name}: ${statuses[one.status]} now, changed meanwhile`
    : `${formatNumber(others.length + 1)} changed meanwhile`
}
