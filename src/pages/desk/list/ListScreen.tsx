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
import { Tabs } from './Tabs.tsx'

/** The applications: found, looked over, and decided on, one or several at once. */
export function ListScreen({ callDesk }: { callDesk: CallDesk }) {
  const asked = askedFrom(useSearch())
  const [, navigate] = useLocation()
  const searchField = useRef<HTMLInputElement>(null)
  const filter = filterOf(asked)
  const { data: overview, dataUpdatedAt: countedAt } = useOverview(callDesk, filter)
  // Of what the address says now: a search that was typed may come when another tab is open already.
  const ask = (change: Partial<Asked>) => {
    const now = askedFrom(placeOf(location.hash).search)
    navigate(addressOf({ ...now, ...change }), { replace: true })
  }
  useKeys({ '/': () => searchField.current?.focus() })
  useEffect(() => {
    const [, opened] = /^\/applications\/(.+)$/.exec(formerPath()) ?? []
    if (opened !== undefined) focusApplication(opened)
  }, [])
  return (
    <>
      <h1 tabIndex={-1}>Applications</h1>
      <Tabs asked={asked} counts={overview?.counts} />
      <div id="list" role="tabpanel" aria-label="Applications" className="sheet">
        <Filters asked={asked} onAsk={ask} searchField={searchField} />
        {overview && <Plots overview={overview} />}
        <List key={searchOf(asked)} {...{ callDesk, asked, countedAt }}>
          <DownloadButton {...{ callDesk, filter }} />
        </List>
      </div>
    </>
  )
}
