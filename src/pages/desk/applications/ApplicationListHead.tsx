import { useRef } from 'react'

import { maxPerCall } from '../../../application/limits.ts'
import type { Filter, Page, SelectedApplication } from '../../../client/desk/applications.ts'
import type { Count } from '../../../client/desk/count.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { Tick } from '../kit/Field.tsx'
import { formatNumber, formatCount } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'
import { useDesk } from '../data/useDesk.tsx'
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
  onSelectShown: (isOn: boolean) => void
  onSelectMatching: (all: readonly SelectedApplication[]) => void
  onRefresh: () => void
}

/** The head of the list: the box that selects all rows, and a button that reads the list again if more applications match. */
export function ApplicationListHead(props: ApplicationListHeadProps) {
  const { filter, isEmpty, isAllSelected, selectedCount, matching, changes } = props
  const { onSelectShown, onSelectMatching, onRefresh } = props
  const { newer, older, more } = changes
  const plus = more ? '+' : ''
  const news = [newer > 0 && `${newer}${plus} new`, older > 0 && `${older}${plus} more`].filter(Boolean)
  const selectShown = useRef<HTMLInputElement>(null)
  if (isEmpty && news.length === 0) return null
  return (
    <div className="layout-row list-head">
      {!isEmpty && (
        <Tick ref={selectShown} isOn={isAllSelected} onTick={onSelectShown}>
          Select all shown
        </Tick>
      )}
      {isAllSelected && matching && Math.min(matching.count, maxPerCall) > selectedCount && (
        <SelectMatching
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
    </div>
  )
}

interface SelectMatchingProps {
  filter: Filter
  /** Number of applications that match the filter. */
  matching: Count
  onSelect: (all: readonly SelectedApplication[]) => void
}

/** A button that selects all applications that match a filter, shown or not, up to the limit of one call. */
function SelectMatching({ filter, matching, onSelect }: SelectMatchingProps) {
  const { call } = useDesk()
  const { isPending, error, press } = useAct(
    async (_args: undefined, signal) => {
      const all: SelectedApplication[] = []
      let after: Page<SelectedApplication>['next'] = null
      do {
        const page: Page<SelectedApplication> = await call('desk_select', { filter, after }, signal)
        all.push(...page.applications)
        after = page.next
      } while (after !== null && all.length < maxPerCall)
      return all.slice(0, maxPerCall)
    },
    {
      onSuccess(all) {
        onSelect(all)
        announce(`${formatNumber(all.length)} selected`)
      },
    },
  )
  const exceedsLimit = matching.count > maxPerCall || (matching.more && matching.count === maxPerCall)
  return (
    <>
      <Button isOff={isPending} onPress={() => press(undefined)}>
        {exceedsLimit
          ? `Select the first ${formatNumber(maxPerCall)} that match`
          : `Select all ${formatCount(matching)} that match`}
      </Button>
      <Problem message="Not selected:" error={error} />
    </>
  )
}
