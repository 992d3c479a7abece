import type { KeyboardEvent } from 'react'

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
    <div className="tabs" role="tablist" aria-label="Status" tabIndex={-1} onKeyDown={move}>
      {tabs.map(([status, label]) => {
        const isCurrent = status === filters.status
        const count = counts?.[status]
        return (
          <a
            key={status}
            href={hrefOf({ screen: 'list', filters: { ...filters, status } })}
            role="tab"
            aria-selected={isCurrent}
            aria-controls="list"
            tabIndex={isCurrent ? 0 : -1}
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
    </div>
  )
}

/** On a phone the tabs are wider than the window. They alone are scrolled, not the page. */
function intoSight(tabOrPart: HTMLElement | null) {
  const tab = tabOrPart?.closest('[role=tab]')
  const tabList = tab?.parentElement
  if (!tab || !tabList) return
  const { left, right } = tab.getBoundingClientRect()
  const seen = tabList.getBoundingClientRect()
  tabList.scrollLeft += Math.min(0, left - seen.left) + Math.max(0, right - seen.right)
}

/** The arrow keys go from tab to tab, as the ARIA pattern of tabs has it; Enter opens one. */
function move(event: KeyboardEvent<HTMLElement>) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (step === undefined) return
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')]
  const place = all.findIndex((tab) => tab === document.activeElement)
  all.at((place + step) % all.length)?.focus()
  event.preventDefault()
}
