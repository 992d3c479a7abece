import { useEffect, useRef } from 'react'
import { useLocation, useSearch } from 'wouter'

import type { CallDesk } from '../../../client/desk.ts'
import { focusApplication } from '../focus.ts'
import { formerPath, placeOf } from '../fragment.ts'
import { useKeys } from '../keys/keys.ts'
import { useOverview } from './applications.ts'
import { addressOf, askedFrom, filterOf, searchOf, type Asked } from './asked.ts'
import { DownloadButton } from './DownloadButton.tsx'
import { Filters } from './Filters.tsx'
import { List } from './List.tsx'
import { Plots } from './Plots.tsx'
import { usePlotsAreOpen } from './plots-are-open.ts'
import { Tabs } from './Tabs.tsx'
import { useTitle } from '../title.ts'

interface ListScreenProps {
  callDesk: CallDesk
  /** Whose desk it is. */
  account: string
}

/** The applications: found, looked over, and decided on, one or several at once. */
export function ListScreen({ callDesk, account }: ListScreenProps) {
  useTitle('Applications')
  const asked = askedFrom(useSearch())
  const [, navigate] = useLocation()
  const searchField = useRef<HTMLInputElement>(null)
  const filter = filterOf(asked)
  const { data: overview, dataUpdatedAt: countedAt } = useOverview(callDesk, filter)
  const [plotsAreOpen, openPlots] = usePlotsAreOpen(account)
  // Of what the address says now: a search that was typed may come when another tab is open already.
  const ask = (change: Partial<Asked>) => {
    const now = askedFrom(placeOf(location.hash).search)
    navigate(addressOf({ ...now, ...change }), { replace: true })
  }
  // What stands in the field, also where the list has not begun to look for it.
  const currentFilter = () => filterOf({ ...asked, search: searchField.current?.value ?? asked.search })
  useKeys({ '/': () => searchField.current?.focus() })
  useEffect(() => {
    const [, opened] = /^\/applications\/(.+)$/.exec(formerPath()) ?? []
    if (opened !== undefined) focusApplication(opened)
  }, [])
  return (
    <>
      <div className="list-top">
        <h1 tabIndex={-1}>Applications</h1>
        <Tabs asked={asked} counts={overview?.counts} />
      </div>
      <div id="list" role="tabpanel" aria-label="Applications" className="sheet">
        <Filters asked={asked} onAsk={ask} searchField={searchField}>
          <button
            className="quiet"
            aria-expanded={plotsAreOpen}
            aria-controls="plots"
            onClick={() => openPlots(!plotsAreOpen)}
          >
            At a glance
          </button>
          <DownloadButton {...{ callDesk, currentFilter }} />
        </Filters>
        <div id="plots" hidden={!plotsAreOpen}>
          {plotsAreOpen && overview && <Plots overview={overview} />}
        </div>
        <List key={searchOf(asked)} {...{ callDesk, asked, countedAt }} />
      </div>
    </>
  )
}
