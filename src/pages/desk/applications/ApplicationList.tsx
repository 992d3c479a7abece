import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'

import { statuses } from '../../../application/statuses.ts'
import { Button } from '../kit/Button.tsx'
import { filterOf, filtersFrom, isNarrowed, type Filters } from '../data/filters.ts'
import { focusById } from '../kit/focus.ts'
import { formatCount } from '../kit/format.ts'
import type { List } from '../data/list.ts'
import { Problem } from '../kit/Problem.tsx'
import { previousRoute, go, hrefOf, routeOf } from '../data/route.ts'
import { lazyScreen, Loading, PartNotLoaded } from '../kit/lazy-screen.tsx'
import { useTitle } from '../kit/site-title.tsx'
import { createSwitch, useSwitch } from '../kit/switches.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useKeys } from '../kit/useKeys.ts'
import { ApplicationFilters, ApplicationTabs } from './ApplicationFilters.tsx'
import { ApplicationRows } from './ApplicationRows.tsx'
import { useDeferredParts } from './deferred-parts.ts'
import { useList, type Counts } from './useList.ts'

const ApplicationPlots = lazyScreen(
  async () => (await import('./deferred.ts')).ApplicationPlots,
  PartNotLoaded,
)

interface ApplicationListProps {
  filters: Filters
  /** The id of the application beside the list; null without one. */
  openId: string | null
  /** Called with whether any row is ticked. */
  onTicking: (isTicking: boolean) => void
  /** Called with the id of an application opened by keyboard, and with null after a move to another row by keyboard. */
  onEnter: (id: string | null) => void
}

/** The list of applications, with search, filters, charts, export and decisions. */
export function ApplicationList({ filters, openId, onTicking, onEnter }: ApplicationListProps) {
  const isAlone = openId === null
  useTitle(isAlone ? 'Applications' : null)
  const { account, isReader, letters } = useDesk()
  const searchField = useRef<HTMLInputElement>(null)
  // Stored per organiser.
  const [plots] = useState(() => createSwitch(`plots-${account}`, false))
  const plotsAreOpen = useSwitch(plots)
  const { list, key, isStale, error, refetch, overview, hasCounts, matchCounts, changes } = useList(filters)
  // Reads the numbers in the navigation, for which the list does not wait.
  useQuery({ ...letters(), enabled: overview !== undefined && !isReader })
  // Includes a typed search that is not applied yet.
  const currentFilter = () => filterOf({ ...filters, search: searchField.current?.value ?? filters.search })
  useKeys({
    '/': () => searchField.current?.focus(),
    // With rows, ApplicationRows handles Escape.
    ...(!isAlone && !list && { Escape: () => go({ screen: 'list', filters }) }),
  })
  // Returning to the list reads it again. Beside an application the list stays mounted, so the read must be started here.
  const wasAlone = useRef(isAlone)
  const onAlone = useEffectEvent(() => {
    const former = previousRoute()
    if (former.screen === 'application') focusById(former.id)
    if (!wasAlone.current) refetch()
  })
  useEffect(() => {
    if (isAlone) onAlone()
    wasAlone.current = isAlone
  }, [isAlone])
  // An empty list has no rows that have to keep their positions.
  const hasFirstRows = list?.applications.length === 0 && changes.newer > 0
  const onFirstRows = useEffectEvent(refetch)
  useEffect(() => {
    if (hasFirstRows) onFirstRows()
  }, [hasFirstRows])
  const isLoaded = list !== undefined || error !== null
  const { loaded: deferred, isMissing } = useDeferredParts(isLoaded)
  return (
    <div className="list-screen" data-tab={filters.status}>
      <div className="list-top">
        {isAlone ? <h1 tabIndex={-1}>Applications</h1> : <h2>Applications</h2>}
        {deferred && overview && (
          <deferred.ListExtras
            {...{ filters, isAlone }}
            editions={overview.editions}
            onChange={changeFilters}
            onRefresh={refetch}
          />
        )}
        <ApplicationTabs filters={filters} counts={hasCounts ? overview?.counts : undefined} />
      </div>
      <div id="list" className="layout-sheet">
        <ApplicationFilters filters={filters} onChange={changeFilters} searchField={searchField}>
          {isAlone && (
            <>
              <Button
                aria-expanded={plotsAreOpen}
                aria-controls="plots"
                onPress={() => plots.turn(!plotsAreOpen)}
              >
                Charts
              </Button>
              {deferred && !isReader && <deferred.ApplicationExport currentFilter={currentFilter} />}
              {deferred && !isReader && filters.edition === undefined && <deferred.ApplicationAdd />}
            </>
          )}
        </ApplicationFilters>
        <div id="plots" hidden={!isAlone || !plotsAreOpen}>
          {isAlone && plotsAreOpen && hasCounts && overview && <ApplicationPlots overview={overview} />}
        </div>
        <div aria-live="polite">
          {list && !isStale && <ResultCount key={key} {...{ list, filters }} counts={matchCounts} />}
        </div>
        {list && (
          <ApplicationRows
            key={key}
            {...{ list, isStale, filters, changes, openId, deferred, onTicking, onEnter }}
            acceptances={overview?.acceptances}
            matching={matchCounts?.[list.filter.status ?? 'all']}
          />
        )}
        <Problem error={error} isStale={list !== undefined} onTryAgain={refetch} />
        {isMissing && <PartNotLoaded />}
        {!list && !error && <Loading />}
        {/* Without a list, the bar still offers to undo earlier decisions. */}
        {!list && isAlone && deferred && !isReader && <deferred.DecisionBar applications={[]} about="" />}
      </div>
      {isAlone && list && deferred && overview && !isReader && (
        <deferred.BelowList
          isEmpty={list.next === null && matchCounts?.all.count === 0 && !isNarrowed(filters)}
        />
      )}
    </div>
  )
}

/**
 * Changes the filters in the current address: by the time a typed search is applied, another tab or an application may be open.
 */
function changeFilters(change: Partial<Filters>) {
  const route = routeOf(location.hash)
  if ('filters' in route) go({ ...route, filters: { ...route.filters, ...change } }, { replace: true })
}

interface ResultCountProps {
  list: List
  filters: Filters
  /** The counts of each status, once they are known. */
  counts: Counts | undefined
}

/** The number of applications found. It is visible if none were found, and otherwise only announced. */
function ResultCount({ list: { applications, next }, filters, counts }: ResultCountProps) {
  // The first counts, since each decision changes them, and the number is announced once.
  const [firstCounts, setFirstCounts] = useState(counts)
  if (counts && !firstCounts) setFirstCounts(counts)
  if (applications.length > 0) {
    const count = firstCounts?.[filters.status]
    const isOne = count?.count === 1 && !count.more
    return (
      count && (
        <p className="visually-hidden">{`${formatCount(count)} ${isOne ? 'application' : 'applications'}`}</p>
      )
    )
  }
  if (next !== null) return null
  const { status } = filters
  const all = counts?.all
  const hasOthers = status !== 'all' && all !== undefined && all.count > 0
  const matchesNothing = status === 'all' || all?.count === 0
  if (!isNarrowed(filters) && all?.count === 0) return <p>Nobody has applied yet.</p>
  const toRead = isNarrowed(filters) || status === 'new' ? undefined : counts?.new
  return (
    <p className="layout-row">
      {matchesNothing ? 'No application matches.' : `Nothing in ${statuses[status]}. `}
      {isNarrowed(filters) && (
        <ListLink filters={{ ...filtersFrom(''), status, edition: filters.edition }}>
          Clear search and filters
        </ListLink>
      )}
      {toRead !== undefined && toRead.count > 0 && (
        <ListLink filters={{ ...filters, status: 'new' }}>{`Read the ${formatCount(toRead)} new`}</ListLink>
      )}
      {hasOthers && (
        <ListLink filters={{ ...filters, status: 'all' }}>{`Show all ${formatCount(all)}`}</ListLink>
      )}
    </p>
  )
}

/** A link to another list. */
function ListLink({ filters, children }: { filters: Filters; children: string }) {
  return (
    <a className="control-link" href={hrefOf({ screen: 'list', filters })}>
      {children}
    </a>
  )
}
