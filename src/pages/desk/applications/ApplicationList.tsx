import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { mostAtOnce, pageSize } from '../../../application/limits.ts'
import { statuses } from '../../../application/statuses.ts'
import type { Selected } from '../../../client/desk/applications.ts'
import type { Count } from '../../../client/desk/count.ts'
import { DecisionBar, decisionKeys } from '../decisions/DecisionBar.tsx'
import { DecisionProblems } from '../decisions/DecisionProblems.tsx'
import { countStatuses, type Seen } from '../decisions/judge.ts'
import { announce } from '../kit/announce.tsx'
import { focusApplication, focusHeading } from '../kit/focus.ts'
import { digits, momentOf, nameOf } from '../kit/format.ts'
import { formerRoute, go, routeOf } from '../kit/route.ts'
import { Problem } from '../kit/Problem.tsx'
import { Loading, MoreButton, useTitle } from '../kit/Screen.tsx'
import { useDesk, useJudge } from '../kit/useDesk.tsx'
import { useKeys } from '../kit/useKeys.ts'
import { useMedia } from '../kit/listen.ts'
import { LetterWriteMany } from '../letters/LetterWriteMany.tsx'
import { ApplicationExport } from './ApplicationExport.tsx'
import { ApplicationFilters, ApplicationTabs } from './ApplicationFilters.tsx'
import { ApplicationPlots, usePlotsAreOpen } from './ApplicationPlots.tsx'
import { ApplicationSelect } from './ApplicationSelect.tsx'
import { ApplicationTable } from './ApplicationTable.tsx'
import { filterOf, searchOf, type Filters } from './filters.ts'
import { useListUpdates } from './useListUpdates.ts'

/** The windows in which the bar of decisions hides much of the list; decisions.css has the same ones. */
const phone = '(max-width: 44rem), (max-height: 28rem)'

/** The list of applications: to search, to look through, and to decide on, one or several at once. */
export function ApplicationList({ filters }: { filters: Filters }) {
  useTitle('Applications')
  const desk = useDesk()
  const searchField = useRef<HTMLInputElement>(null)
  const { data: overview, dataUpdatedAt: countedAt } = useQuery(desk.overview(filterOf(filters)))
  const [plotsAreOpen, openPlots] = usePlotsAreOpen(desk.account)
  // What is typed into the field, also before the list searches for it.
  const currentFilter = () => filterOf({ ...filters, search: searchField.current?.value ?? filters.search })
  useKeys({ '/': () => searchField.current?.focus() })
  useEffect(() => {
    const former = formerRoute()
    if (former.screen === 'application') focusApplication(former.id)
  }, [])
  return (
    <div className="list">
      <div className="list-top">
        <h1 tabIndex={-1}>Applications</h1>
        <ApplicationTabs filters={filters} counts={overview?.counts} />
      </div>
      <div id="list" className="sheet">
        <ApplicationFilters filters={filters} onChange={narrow} searchField={searchField}>
          <button
            className="quiet"
            aria-expanded={plotsAreOpen}
            aria-controls="plots"
            onClick={() => openPlots(!plotsAreOpen)}
          >
            At a glance
          </button>
          <ApplicationExport currentFilter={currentFilter} />
        </ApplicationFilters>
        <div id="plots" hidden={!plotsAreOpen}>
          {plotsAreOpen && overview && <ApplicationPlots overview={overview} />}
        </div>
        <List
          key={searchOf(filters)}
          {...{ filters, countedAt }}
          matching={overview?.counts[filters.status]}
        />
      </div>
    </div>
  )
}

/** Changes the filters of the present address: a typed search may come when another tab is open already. */
function narrow(change: Partial<Filters>) {
  const now = routeOf(location.hash)
  if (now.screen === 'list') go({ ...now, filters: { ...now.filters, ...change } }, { replace: true })
}

interface ListProps {
  filters: Filters
  /** When the applications were counted last. */
  countedAt: number
  /** How many the filter lets through. */
  matching: Count | undefined
}

/** One list. It is read anew whenever somebody opens it, and its rows keep their places as long as it is shown. */
function List({ filters, countedAt, matching }: ListProps) {
  const desk = useDesk()
  const filter = filterOf(filters)
  const list = desk.list(filter)
  const query = useInfiniteQuery({
    ...list,
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
    refetchOnReconnect: 'always',
  })
  const { data, error, refetch, hasNextPage, fetchNextPage } = query
  // The ticked applications, each with the version that was shown: one that changes afterwards is not selected any more.
  const [ticked, setTicked] = useState<ReadonlyMap<string, number>>(new Map())
  // Applications that were selected without having been shown.
  const [beyond, setBeyond] = useState<readonly Selected[]>([])
  const [current, setCurrent] = useState<string | null>(null)
  // Whom the dialog is about that was opened from the bar: the bar stays as long, whatever happens to the list.
  const [writtenTo, setWrittenTo] = useState<readonly Seen[]>([])
  const queries = useQueryClient()
  const { judge } = useJudge()
  const rows = data?.pages.flatMap(({ applications }) => applications)
  const { gone, newer, older, more, letters, answers } = useListUpdates(filter, data?.pages, countedAt)

  const shown = new Set(rows?.map(({ id }) => id))
  const known: Selected[] = [...(rows ?? []), ...beyond.filter(({ id }) => !shown.has(id))]
  const selected = new Set(
    known
      .filter((row) => !gone.has(row.id) && ticked.get(row.id) === judge.shownOf(row).version)
      .map(({ id }) => id),
  )
  // Where all that was ticked has changed, the next key is about the row that has the focus.
  const leftOut = ticked.size - selected.size
  const allLeftOut = rows !== undefined && selected.size === 0 ? leftOut : 0
  const seen = known
    .filter(({ id }) => (selected.size > 0 ? selected.has(id) : id === current && !gone.has(id)))
    .map((row): Seen => ({ id: row.id, name: nameOf(row), status: row.status, version: row.version }))
  // A row whose status changed meanwhile is not meant by whoever selects the whole list.
  const ofThisList = (rows ?? []).filter(
    (row) => !gone.has(row.id) && ['all', judge.shownOf(row).status].includes(filters.status),
  )
  // There the bar would cover the list for the application that was opened last.
  const isBarFree = useMedia(phone) && selected.size === 0
  const move = (step: 1 | -1) => {
    const place = rows?.findIndex(({ id }) => id === current) ?? -1
    const next = rows?.[place === -1 ? 0 : Math.min(Math.max(place + step, 0), rows.length - 1)]
    if (next) focusApplication(next.id)
  }
  const isWhole = ofThisList.length > 0 && ofThisList.every(({ id }) => selected.has(id))
  const select = (all: readonly Selected[], isOn: boolean) => {
    const now = new Map([...ticked].filter(([id]) => selected.has(id)))
    for (const row of all) {
      if (isOn) now.set(row.id, judge.shownOf(row).version)
      else now.delete(row.id)
    }
    setTicked(now)
  }
  const selectNone = () => setTicked(new Map())
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current !== null && go({ screen: 'application', id: current, filters }),
    x: () =>
      select(rows?.filter(({ id }) => id === current && !gone.has(id)) ?? [], !selected.has(current ?? '')),
    Escape: selectNone,
    ...decisionKeys(judge, seen, selectNone),
  })

  useEffect(() => {
    if (allLeftOut > 0) announce(`${digits(allLeftOut)} changed meanwhile and left out`)
  }, [allLeftOut])

  // The element that has the focus may be gone when the list is read anew. Then the one in its place gets the focus.
  const place = rows?.findIndex(({ id }) => id === current) ?? -1
  const lastPlace = useRef(-1)
  useEffect(() => {
    if (place !== -1) lastPlace.current = place
    else if (lastPlace.current !== -1 && rows !== undefined && document.activeElement === document.body) {
      focusApplication(rows[Math.min(lastPlace.current, rows.length - 1)]?.id)
      lastPlace.current = -1
    }
  })

  // The focus moves to the new rows, since the button may have disappeared.
  const first = useRef<number | null>(null)
  useEffect(() => {
    const row = first.current === null ? undefined : rows?.[first.current]
    if (row === undefined) return
    first.current = null
    if (document.activeElement?.matches('body, .more')) focusApplication(row.id)
  })

  if (rows === undefined)
    return error ? <Problem error={error} onTryAgain={() => void refetch()} /> : <Loading />
  const lastPage = data?.pages.at(-1)
  return (
    <>
      <div className="row list-head">
        {rows.length > 0 && (
          <label className="tick">
            <input
              type="checkbox"
              checked={isWhole}
              onChange={({ target }) => (target.checked ? select(ofThisList, true) : selectNone())}
            />
            Select all shown
          </label>
        )}
        {isWhole && matching && Math.min(matching.count, mostAtOnce) > selected.size && (
          <ApplicationSelect
            {...{ filter, matching }}
            onSelect={(all) => {
              setBeyond(all)
              setTicked(new Map(all.map(({ id, version }) => [id, version])))
            }}
          />
        )}
        {newer + older > 0 && (
          <button
            className="news"
            onClick={() => {
              selectNone()
              focusHeading()
              void queries.resetQueries({ queryKey: list.queryKey })
              void desk.readAgainAfter('desk_decide')
            }}
          >
            {[
              { count: newer, word: 'new' },
              { count: older, word: 'more' },
            ]
              .filter(({ count }) => count > 0)
              .map(({ count, word }) => `${count}${more ? '+' : ''} ${word}`)
              .join(', ')}
          </button>
        )}
      </div>
      <DecisionProblems />
      {rows.length > 0 && (
        <ApplicationTable
          {...{ rows, letters, answers, filters, selected, current, gone }}
          onSelect={(row, isOn) => select([row], isOn)}
          onCurrent={setCurrent}
        />
      )}
      {rows.length === 0 && !hasNextPage && (
        <p>{filters.search === '' ? 'No applications here.' : 'Nothing was found.'}</p>
      )}
      <Problem error={error} onTryAgain={() => void fetchNextPage()} />
      {hasNextPage && !error && (
        <p className="row">
          <MoreButton query={query} onPress={() => (first.current = rows.length)} />
          {lastPage?.next && lastPage.applications.length < pageSize && (
            <span className="quietly">
              Searched as far as {momentOf(lastPage.next.created_at)}. Narrow the search, or press More to go
              on.
            </span>
          )}
        </p>
      )}
      <DecisionBar
        seen={writtenTo.length > 0 ? writtenTo : isBarFree ? [] : seen}
        about={aboutOf(seen, leftOut - allLeftOut)}
        onDecided={selectNone}
      >
        <LetterWriteMany
          written={writtenTo}
          onOpen={() => setWrittenTo(seen)}
          onClosed={() => setWrittenTo([])}
        />
      </DecisionBar>
    </>
  )

  /** Whom the bar is about: the name of one, or the number of several and what may be a surprise among them. */
  function aboutOf(chosen: readonly Seen[], unticked: number) {
    const elsewhere = countStatuses(
      chosen
        .map((each) => judge.shownOf(each).status)
        .filter((status) => !['all', status].includes(filters.status)),
    )
    const [only] = chosen
    const remarks = [
      ...elsewhere.map(({ status, count }) => `${count} ${statuses[status]}`),
      ...(unticked > 0 ? [`${unticked} changed meanwhile and left out`] : []),
    ]
    if (only !== undefined && chosen.length === 1 && unticked === 0) return only.name
    return [`${digits(chosen.length)} selected`, ...remarks].join(', ')
  }
}
