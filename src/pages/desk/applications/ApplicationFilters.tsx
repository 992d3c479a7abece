import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react'

import { statuses, type Status } from '../../../application/statuses.ts'
import type { Overview } from '../../../client/desk/applications.ts'
import { Button } from '../kit/Button.tsx'
import { exactWordOf, filtersFrom, type Filters } from '../data/filters.ts'
import { formatCount } from '../kit/format.ts'
import { hrefOf } from '../data/route.ts'
import { lazyScreen, PartNotLoaded } from '../kit/lazy-screen.tsx'

const FilterFields = lazyScreen(async () => (await import('./deferred.ts')).FilterFields, PartNotLoaded)

const SearchHint = lazyScreen(
  async () => (await import('./deferred.ts')).SearchHint,
  () => null,
)

/** Milliseconds after the last key before the search starts. */
const searchDelay = 250

interface ApplicationFiltersProps {
  filters: Filters
  onChange: (change: Partial<Filters>) => void
  searchField: RefObject<HTMLInputElement | null>
  /** Content beside the filters. */
  children: ReactNode
}

/** The search field, and a button that opens the other filters and the order. The button shows the number of active filters. */
export function ApplicationFilters({ filters, onChange, searchField, children }: ApplicationFiltersProps) {
  const [isOpen, setIsOpen] = useState(false)
  // The typed search before it is applied.
  const [typed, setTyped] = useState<string | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // A pending search must not pull somebody back from an application.
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      onChange({ search: text })
      setTyped(null)
    }, searchDelay)
  }
  const exactWord = exactWordOf(filters.search)
  const { team_size, paid_solution, answer, from, to, marks } = filters
  const narrowing = [team_size, paid_solution, answer, marks, from || null, to || null]
  const count = narrowing.filter((value) => value !== null).length
  return (
    <search className="list-filters">
      <div className="layout-row">
        <label htmlFor="search" className="visually-hidden">
          Search
        </label>
        <input
          ref={searchField}
          id="search"
          type="search"
          placeholder="Search"
          autoComplete="off"
          spellCheck={false}
          aria-keyshortcuts="/"
          aria-describedby="search-hint"
          value={typed ?? filters.search}
          onChange={(event) => search(event.target.value)}
        />
        {(count > 0 || filters.search !== '') && (
          <Button
            onPress={() => {
              clearTimeout(timer.current)
              setTyped(null)
              onChange({
                ...filtersFrom(''),
                edition: filters.edition,
                status: filters.status,
                order: filters.order,
              })
              // The pressed button disappears.
              searchField.current?.focus()
            }}
          >
            Clear
          </Button>
        )}
        <Button aria-expanded={isOpen} aria-controls="filters" onPress={() => setIsOpen(!isOpen)}>
          {count === 0 ? 'Filters' : `Filters (${count})`}
        </Button>
        <div className="list-extra">{children}</div>
      </div>
      <div id="search-hint" className="control-hint" aria-live="polite">
        {exactWord !== '' && <SearchHint word={exactWord} />}
      </div>
      <div id="filters" className="list-filter-fields" hidden={!isOpen}>
        {isOpen && <FilterFields {...{ filters, onChange }} />}
      </div>
    </search>
  )
}

type Counts = Overview['counts']

const tabs = [...Object.entries(statuses), ['all', 'All']] as [Status | 'all', string][]

/**
 * A tab for each status and one for all, with its count once that is known. The tab "Put aside" is left out if it has no
 * applications, unless it is open.
 */
export function ApplicationTabs({ filters, counts }: { filters: Filters; counts: Counts | undefined }) {
  return (
    <nav className="list-tabs" aria-label="Status">
      {tabs.map(([status, label]) => {
        const isCurrent = status === filters.status
        const count = counts?.[status]
        if (status === 'aside' && !isCurrent && !count?.count) return null
        return (
          <a
            key={status}
            className="list-tab"
            href={hrefOf({ screen: 'list', filters: { ...filters, status } })}
            aria-current={isCurrent ? 'page' : undefined}
            ref={isCurrent ? scrollIntoTabs : undefined}
          >
            {label}{' '}
            {count !== undefined && (
              // Scrolls again, because the count makes the tab wider.
              <span className="list-count" ref={isCurrent ? scrollIntoTabs : undefined}>
                {formatCount(count)}
              </span>
            )}
          </a>
        )
      })}
    </nav>
  )
}

/** The width in pixels of the edges at which tabs fade. */
const edge = 32

/** Scrolls a tab into view. On a phone the tabs are wider than the window; the page itself must not scroll. */
function scrollIntoTabs(tabOrPart: HTMLElement | null) {
  const tab = tabOrPart?.closest('a')
  const nav = tab?.parentElement
  if (!tab || !nav) return
  const { left, right } = tab.getBoundingClientRect()
  const visible = nav.getBoundingClientRect()
  nav.scrollLeft += Math.min(0, left - edge - visible.left) + Math.max(0, right + edge - visible.right)
}
