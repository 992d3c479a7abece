import { useRef } from 'react'

import { maxPerCall } from '../../../application/limits.ts'
import type { Filter, SelectedApplication } from '../../../client/desk/applications.ts'
import type { Count } from '../../../client/desk/count.ts'
import { useDesk } from '../data/useDesk.tsx'
import { Button } from '../kit/Button.tsx'
import { Tick } from '../kit/Tick.tsx'
import type { DeferredParts } from './deferred-parts.ts'
import type { Changes } from './useList.ts'

interface ApplicationListHeadProps {
  filter: Filter
  isEmpty: boolean
  /** Whether all rows that match the current tab are selected. */
  isAllSelected: boolean
  selectedCount: number
  /** Number of applications that match the filter, once known. */
  matching: Count | undefined
  changes: Changes
  deferred: DeferredParts | undefined
  onSelectShown: (isOn: boolean) => void
  onSelectMatching: (all: readonly SelectedApplication[]) => void
  onRefresh: () => void
}

/** The head of the list: the box that selects all rows, and a button that reads the list again if more applications match. */
export function ApplicationListHead(props: ApplicationListHeadProps) {
  const { filter, isEmpty, isAllSelected, selectedCount, matching, changes, deferred } = props
  const { onSelectShown, onSelectMatching, onRefresh } = props
  const { newer, older, more, sinceYesterday } = changes
  const plus = more ? '+' : ''
  const news = [newer > 0 && `${newer}${plus} new`, older > 0 && `${older}${plus} more`].filter(Boolean)
  const selectShown = useRef<HTMLInputElement>(null)
  const { isReader } = useDesk()
  if (isEmpty && news.length === 0) return null
  return (
    <div className="layout-row list-head">
      {!isEmpty && !isReader && (
        <Tick ref={selectShown} isOn={isAllSelected} onTick={onSelectShown}>
          Select all shown
        </Tick>
      )}
      {isAllSelected && deferred && matching && Math.min(matching.count, maxPerCall) > selectedCount && (
        <deferred.SelectMatching
          {...{ filter, matching }}
          onSelect={(all) => {
            onSelectMatching(all)
            // The pressed button disappears.
            selectShown.current?.focus()
          }}
        />
      )}
      {news.length > 0 && (
        <Button className="list-news" onPress={onRefresh}>
          {news.join(', ')}
        </Button>
      )}
      {/* Only where the line has room, so that it moves nothing. */}
      {selectedCount === 0 && news.length === 0 && deferred && sinceYesterday && (
        <deferred.SinceYesterday edition={filter.edition} since={sinceYesterday} />
      )}
    </div>
  )
}
