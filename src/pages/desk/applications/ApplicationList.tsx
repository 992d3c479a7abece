import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { mostAtOnce, pageSize } from '../../../application/limits.ts'
import { statuses } from '../../../application/statuses.ts'
import type { Filter, ListPage, Page, Selected } from '../../../client/desk/applications.ts'
import type { Count } from '../../../client/desk/count.ts'
import { DecisionBar, decisionKeys, DecisionProblems } from '../decisions/DecisionBar.tsx'
import { countsOf } from '../decisions/sentences.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { Tick } from '../kit/Field.tsx'
import { filterOf, searchOf, type Filters } from '../kit/filters.ts'
import { focusApplication, focusHeading, focusOn } from '../kit/focus.ts'
import { digits, momentOf, nameOf, upTo } from '../kit/format.ts'
import type { Seen } from '../kit/decision-state.ts'
import { formerRoute, go, routeOf } from '../kit/route.ts'
import { Problem } from '../kit/Problem.tsx'
import { Loading, MoreButton, useTitle } from '../kit/Screen.tsx'
import { useAct } from '../kit/useAct.ts'
import { useDesk, useDecisionQueue } from '../kit/useDesk.tsx'
import { useKeys } from '../kit/useKeys.ts'
import { useMedia } from '../kit/listen.ts'
import { LetterWriteMany } from '../letters/LetterWriteMany.tsx'
import { ApplicationExport } from './ApplicationExport.tsx'
import { ApplicationFilters, ApplicationTabs } from './ApplicationFilters.tsx'
import { ApplicationPlots, usePlotsAreOpen } from './ApplicationPlots.tsx'
import { ApplicationTable } from './ApplicationTable.tsx'
import { nothing, rangeTo, select, selectBeyond, selectedOf } from './selection.ts'

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
          <Button aria-expanded={plotsAreOpen} aria-controls="plots" onPress={() => openPlots(!plotsAreOpen)}>
            At a glance
          </Button>
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
  const [selection, setSelection] = useState(nothing)
  const [current, setCurrent] = useState<string | null>(null)
  // Whom the dialog is about that was opened from the bar: the bar stays as long, whatever happens to the list.
  const [writtenTo, setWrittenTo] = useState<readonly Seen[]>([])
  const queries = useQueryClient()
  const { queue } = useDecisionQueue()
  const rows = data?.pages.flatMap(({ applications }) => applications) ?? []
  const { gone, newer, older, more, letters, answers } = useListUpdates(filter, data?.pages, countedAt)

  const shown = new Set(rows.map(({ id }) => id))
  const there = rows.filter(({ id }) => !gone.has(id))
  const beyond = selection.beyond.filter(({ id }) => !shown.has(id) && !gone.has(id))
  const known: Selected[] = [...there, ...beyond]
  const asShown = known.map((row) => ({ id: row.id, version: queue.shownOf(row).version }))
  const selected = selectedOf(selection, asShown)
  // Where all that was ticked has changed, the next key is about the row that has the focus.
  const leftOut = selection.ticked.size - selected.size
  const allLeftOut = data !== undefined && selected.size === 0 ? leftOut : 0
  const someLeftOut = leftOut - allLeftOut
  const seen = known
    .filter(({ id }) => (selected.size > 0 ? selected.has(id) : id === current))
    .map((row): Seen => ({ id: row.id, name: nameOf(row), status: row.status, version: row.version }))
  // A row whose status changed meanwhile is not meant by whoever selects the whole list.
  const isOfThisList = (row: Selected) => ['all', queue.shownOf(row).status].includes(filters.status)
  const ofThisList = there.filter(isOfThisList)
  const isWhole = ofThisList.length > 0 && ofThisList.every(({ id }) => selected.has(id))
  // There the bar would cover the list for the application that was opened last.
  const isBarFree = useMedia(phone) && selected.size === 0
  const place = rows.findIndex(({ id }) => id === current)
  const moveTo = (to: number) => {
    const row = rows[Math.min(to, rows.length - 1)]
    if (row) focusApplication(row.id)
  }
  const choose = (ids: readonly string[], isOn: boolean) =>
    setSelection(select(selection, asShown, ids, isOn))
  const selectNone = () => setSelection(nothing)
  useKeys({
    j: () => moveTo(place + 1),
    k: () => moveTo(Math.max(place - 1, 0)),
    Enter: () => current !== null && go({ screen: 'application', id: current, filters }),
    x: () => current !== null && choose([current], !selected.has(current)),
    Escape: selectNone,
    ...decisionKeys(queue, seen, selectNone),
  })

  const changed = there.filter((row) => queue.isChanged(row) && !selection.ticked.has(row.id))
  const [changedRow] = changed
  const news =
    changedRow && changed.length === 1
      ? `${nameOf(changedRow)}: ${statuses[queue.shownOf(changedRow).status]} now, set meanwhile`
      : `${digits(changed.length)} changed meanwhile`
  useEffect(() => {
    if (changed.length > 0) announce(news)
  }, [changed.length, news])

  useEffect(() => {
    if (allLeftOut > 0) announce(`${digits(allLeftOut)} changed meanwhile and left out`)
  }, [allLeftOut])

  // The element that has the focus may be gone when the list is read anew. Then the one in its place gets the focus.
  const lastPlace = useRef(-1)
  useEffect(() => {
    if (place !== -1) lastPlace.current = place
    else if (lastPlace.current !== -1 && data !== undefined && document.activeElement === document.body) {
      focusApplication(rows[Math.min(lastPlace.current, rows.length - 1)]?.id)
      lastPlace.current = -1
    }
  })

  // The focus moves to the new rows, since the button may have disappeared.
  const first = useRef<number | null>(null)
  useEffect(() => {
    const row = first.current === null ? undefined : rows[first.current]
    if (row === undefined) return
    first.current = null
    if (document.activeElement?.matches('body, .more')) focusApplication(row.id)
  })

  if (data === undefined)
    return error ? <Problem error={error} onTryAgain={() => void refetch()} /> : <Loading />
  const lastPage = data.pages.at(-1)
  const plus = more ? '+' : ''
  return (
    <>
      <div className="row list-head">
        {rows.length > 0 && (
          <Tick
            isOn={isWhole}
            onTick={(isOn) =>
              isOn
                ? choose(
                    ofThisList.map(({ id }) => id),
                    true,
                  )
                : selectNone()
            }
          >
            Select all shown
          </Tick>
        )}
        {isWhole && matching && Math.min(matching.count, mostAtOnce) > selected.size && (
          <SelectMatching {...{ filter, matching }} onSelect={(all) => setSelection(selectBeyond(all))} />
        )}
        {newer + older > 0 && (
          <Button
            className="news"
            onPress={() => {
              selectNone()
              focusHeading()
              void queries.resetQueries({ queryKey: list.queryKey })
              void desk.readAgainAfter('desk_decide')
            }}
          >
            {[newer > 0 && `${newer}${plus} new`, older > 0 && `${older}${plus} more`]
              .filter((part) => part !== false)
              .join(', ')}
          </Button>
        )}
      </div>
      <DecisionProblems />
      {rows.length > 0 && (
        <ApplicationTable
          {...{ rows, letters, answers, filters, selected, current, gone }}
          onSelect={(id, isOn, isRange) => choose(isRange ? rangeTo(selection, asShown, id) : [id], isOn)}
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
        about={aboutOf(seen)}
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
  function aboutOf([only, ...others]: readonly Seen[]) {
    if (only !== undefined && others.length === 0 && someLeftOut === 0) return only.name
    const elsewhere = seen.filter((each) => !isOfThisList(each)).map((each) => queue.shownOf(each).status)
    const remarks = countsOf(elsewhere)
    if (someLeftOut > 0) remarks.push(`${someLeftOut} changed meanwhile and left out`)
    return [`${digits(seen.length)} selected`, ...remarks].join(', ')
  }
}

/**
 * What happened meanwhile to the list that is shown, whose rows keep their places. The desk learns what was decided on them.
 * The hook gives what was erased, how many applications are missing, and the state of their letters and answers.
 *
 * @param pages Those of the list, once it was read.
 * @param countedAt When the applications were counted last.
 */
function useListUpdates(filter: Filter, pages: readonly ListPage[] | undefined, countedAt: number) {
  const { data } = useQuery({
    ...useDesk().meanwhile(filter, countedAt),
    // Beside a list that has not come yet everything would be missing.
    enabled: countedAt > 0 && pages !== undefined,
  })
  const gone = new Set(data?.gone)
  const letters = pages?.flatMap((page) => page.letters) ?? []
  if (data === undefined || data.first !== pages?.[0])
    return { gone, newer: 0, older: 0, more: false, letters, answers: {} }
  // The list may have been read on since.
  const ofOthers = letters.filter(({ application }) => !data.shown.has(application))
  return { ...data, gone, letters: [...ofOthers, ...data.letters] }
}

interface SelectMatchingProps {
  filter: Filter
  /** How many applications the filter lets through. */
  matching: Count
  onSelect: (all: readonly Selected[]) => void
}

/** Selects the applications that a filter lets through, shown or not, at most as many as one call takes. */
function SelectMatching({ filter, matching, onSelect }: SelectMatchingProps) {
  const { call } = useDesk()
  const { isPending, error, press } = useAct(
    async (_given: undefined, signal) => {
      const all: Selected[] = []
      let after: Page<Selected>['next'] = null
      do {
        const page: Page<Selected> = await call('desk_select', { filter, after }, signal)
        all.push(...page.applications)
        after = page.next
      } while (after !== null && all.length < mostAtOnce)
      return all.slice(0, mostAtOnce)
    },
    {
      onSuccess(all) {
        onSelect(all)
        announce(`${digits(all.length)} selected`)
        // The pressed button disappears.
        focusOn(document.querySelector('.tick input'))
      },
    },
  )
  const isCut = matching.count > mostAtOnce || (matching.more && matching.count === mostAtOnce)
  return (
    <>
      <Button isOff={isPending} onPress={() => press(undefined)}>
        {isCut
          ? `Select the first ${digits(mostAtOnce)} that match`
          : `Select all ${upTo(matching)} that match`}
      </Button>
      <Problem said="Not selected:" error={error} />
    </>
  )
}
