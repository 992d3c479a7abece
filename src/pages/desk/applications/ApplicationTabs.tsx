import { statuses, type Status } from '../../../application/statuses.ts'
import type { Overview } from '../../../client/desk.ts'
import { upTo } from '../kit/format.ts'
import { hrefOf } from '../kit/places.ts'
import type { Filters } from './filters.ts'

const tabs = [...Object.entries(statuses), ['all', 'All']] as [Status | 'all', string][]

interface ApplicationTabsProps {
  filters: Filters
  counts: Overview['counts'] | undefined
}

/** The statuses, each with how many there are as soon as that is known. */
export function ApplicationTabs({ filters, counts }: ApplicationTabsProps) {
  return (
    <nav className="tabs" aria-label="Status">
      {tabs.map(([status, label]) => {
        const isCurrent = status === filters.status
        const count = counts?.[status]
        return (
          <a
            key={status}
            href={hrefOf({ screen: 'list', filters: { ...filters, status } })}
            aria-current={isCurrent ? 'page' : undefined}
            ref={isCurrent ? intoSight : undefined}
          >
            {label}{' '}
            {count !== undefined && (
              // It makes the tab wider.
              <span className="count" ref={isCurrent ? intoSight : undefined}>
                {upTo(count)}
              </span>
            )}
          </a>
        )
      })}
    </nav>
  )
}

/** On a phone the tabs are wider than the window. They alone are scrolled, not the page. */
function intoSight(tabOrPart: HTMLElement | null) {
  const tab = tabOrPart?.closest('a')
  const nav = tab?.parentElement
  if (!tab || !nav) return
  const { left, right } = tab.getBoundingClientRect()
  const seen = nav.getBoundingClientRect()
  nav.scrollLeft += Math.min(0, left - seen.left) + Math.max(0, right - seen.right)
}
