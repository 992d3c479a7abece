import { useEffect, useRef } from 'react'

import { statuses } from '../../../application/statuses.ts'
import { DecisionBar, DecisionProblems } from '../decisions/DecisionBar.tsx'
import { Button } from '../kit/Button.tsx'
import { filterOf, isNarrowed, type Filters } from '../kit/filters.ts'
import { focusApplication, focusHeading } from '../kit/focus.ts'
import { countOf, digits, upTo } from '../kit/format.ts'
import type { List } from '../kit/list.ts'
import { Problem } from '../kit/Problem.tsx'
import { formerRoute, go, hrefOf, routeOf } from '../kit/route.ts'
import { Loading, useTitle } from '../kit/Screen.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { useShown } from '../kit/shown.ts'
import { useKeys } from '../kit/useKeys.ts'
import { ApplicationExport } from './ApplicationExport.tsx'
import { ApplicationFilters, ApplicationTabs } from './ApplicationFilters.tsx'
import { ApplicationPlots, usePlotsAreOpen } from './ApplicationPlots.tsx'
import { ApplicationRows } from './ApplicationRows.tsx'
import { useList, type Counts } from './useList.ts'

/** The list of applications: to search, to look through, and to decide on, one or several at once. */
export function ApplicationList({ filters }: { filters: Filters }) {
  useTitle('Applications')
  const { account } = useDesk()
  const searchField = useRef<HTMLInputElement>(null)
  const [plotsAreOpen, openPlots] = usePlotsAreOpen(account)
  const { list, key, isStale, error, readAgain, overview, found, changes } = useList(filters)
  // What is typed into the field, also before the list searches for it.
  const currentFilter = () => filterOf({ ...filters, search: searchField.current?.value ?? filters.search })
  useKeys({ '/': () => searchField.current?.focus() })
  useShown(list !== undefined || error !== null)
  useEffect(() => {
    const former = formerRoute()
    if (former.screen === 'application') focusApplication(former.id)
  }, [])
  return (
    <div className="list-screen">
      <div className="list-top">
        <h1 tabIndex={-1}>Applications</h1>
        <ApplicationTabs filters={filters} counts={overview?.counts} />
      </div>
      <div id="list" className="layout-sheet">
        <ApplicationFilters filters={filters} onChange={narrow} searchField={searchField}>
          <Button aria-expanded={plotsAreOpen} aria-controls="plots" onPress={() => openPlots(!plotsAreOpen)}>
            At a glance
          </Button>
          <ApplicationExport currentFilter={currentFilter} />
        </ApplicationFilters>
        <div id="plots" hidden={!plotsAreOpen}>
          {plotsAreOpen && overview && <ApplicationPlots overview={overview} />}
        </div>
        <div aria-live="polite">{list && !isStale && <Found {...{ list, filters }} counts={found} />}</div>
        <DecisionProblems />
        {list && (
          <ApplicationRows
            key={key}
            {...{ list, isStale, filters, changes }}
            matching={found?.[list.filter.status ?? 'all']}
          />
        )}
        <Problem error={error} onTryAgain={readAgain} />
        {!list && !error && <Loading />}
        {/* What was decided before can be undone all the same. */}
        {!list && <DecisionBar seen={[]} about="" />}
      </div>
    </div>
  )
}

/** Changes the filters of the present address: a typed search may come when another tab is open already. */
function narrow(change: Partial<Filters>) {
  const now = routeOf(location.hash)
  if (now.screen === 'list') go({ ...now, filters: { ...now.filters, ...change } }, { replace: true })
}

interface FoundProps {
  list: List
  filters: Filters
  /** Of each status, as soon as they are known. */
  counts: Counts | undefined
}

/** How many were found. It is seen where there are none, and heard in any case. */
function Found({ list: { applications, next }, filters, counts }: FoundProps) {
  const { length } = applications
  if (length > 0) {
    const words = next === null ? countOf(length, 'application') : `${digits(length)} applications or more`
    // With the counts: what the document holds has one row, whatever comes.
    return counts && <p className="visually-hidden">{words}</p>
  }
  if (next !== null) return null
  if (!isNarrowed(filters)) return <p>No applications here.</p>
  const elsewhere = counts?.all
  if (filters.status === 'all' || elsewhere?.count === 0) return <p>Nothing was found.</p>
  return (
    <p className="layout-row">
      Nothing in {statuses[filters.status]}.
      {elsewhere && (
        <>
          {` ${upTo(elsewhere)} elsewhere. `}
          <a
            className="control-link"
            href={hrefOf({ screen: 'list', filters: { ...filters, status: 'all' } })}
            // The link disappears.
            onClick={focusHeading}
          >
            Show all {upTo(elsewhere)}
          </a>
        </>
      )}
    </p>
  )
}
