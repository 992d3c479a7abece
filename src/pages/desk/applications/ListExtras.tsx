import { useEffect, useEffectEvent, useRef } from 'react'

import type { Edition } from '../../../client/desk/editions.ts'
import { EarlierNotice, EditionSelect } from '../editions/EditionSelect.tsx'
import { findEarlierEdition, nameOfEdition } from '../editions/editions.ts'
import type { Filters } from '../data/filters.ts'
import { useDesk } from '../data/useDesk.tsx'
import { ClockNotice } from '../session/ClockNotice.tsx'
import { JunkSuggestions } from './JunkSuggestions.tsx'

interface ListExtrasProps {
  filters: Filters
  /** Whether no application is beside the list. Otherwise only the name of the retreat is shown. */
  isAlone: boolean
  /** All retreats, the newest first. */
  editions: readonly Edition[] | undefined
  onChange: (change: Partial<Filters>) => void
  onRefresh: () => void
}

/**
 * The parts of the list's head that are often absent: the notice about the clock, the choice among several retreats, and the
 * suggestions of junk.
 */
export function ListExtras({ filters, isAlone, editions = [], onChange, onRefresh }: ListExtrasProps) {
  const { edition, status } = filters
  const { isReader } = useDesk()
  const isEarlier = edition !== undefined && edition !== editions[0]?.id
  useOnNewRetreat(editions[0]?.id, onRefresh)
  if (!isAlone) {
    const shown = editions.length > 1 && (findEarlierEdition(editions, edition) ?? editions[0])
    return (
      shown && (
        <p className="list-extras layout-quiet">
          <bdi>{nameOfEdition(shown)}</bdi>
        </p>
      )
    )
  }
  return (
    <>
      <ClockNotice />
      <EarlierNotice
        {...{ editions, edition }}
        to={{ screen: 'list', filters: { ...filters, edition: undefined } }}
      />
      <div className="list-extras">
        <EditionSelect
          {...{ editions, edition }}
          // An earlier retreat has been decided, so its tab New is usually empty.
          onChoose={(chosen) =>
            onChange({ edition: chosen, ...(chosen !== undefined && status === 'new' && { status: 'all' }) })
          }
        />
        {/* Junk is searched in the newest retreat. */}
        {!isEarlier && !isReader && <JunkSuggestions newest={editions[0]?.id} />}
      </div>
    </>
  )
}

/** Calls a function when a retreat begins while the list is shown: the list then has the rows of the previous retreat. */
function useOnNewRetreat(newest: number | undefined, onBegun: () => void) {
  const former = useRef(newest)
  const onNewest = useEffectEvent((id: number) => {
    if (former.current !== undefined && id !== former.current) onBegun()
    former.current = id
  })
  useEffect(() => {
    if (newest !== undefined) onNewest(newest)
  }, [newest])
}
