import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { JunkGroup } from '../../../client/desk/applications.ts'
import { Button } from '../kit/Button.tsx'
import { focusHeading } from '../kit/focus.ts'
import { countOf, formatNumber, nameOf } from '../kit/format.ts'
import { useDecisionQueue, useDesk } from '../kit/useDesk.tsx'

/** A notice of applications that look as if a program had sent them. Each group is put aside by one press. */
export function JunkNotice() {
  const { queue } = useDecisionQueue()
  const { data = [] } = useQuery(useDesk().junk())
  const [isOpen, setIsOpen] = useState(false)
  const groups = data
    .map((group) => ({
      ...group,
      applications: group.applications
        .filter((each) => queue.currentOf(each).status === 'new')
        .map((each) => ({ ...each, name: nameOf(each) })),
    }))
    .filter(({ applications }) => applications.length > 0)
  const count = groups.reduce((sum, { applications }) => sum + applications.length, 0)
  if (count === 0) return null
  return (
    <section className="layout-notice list-junk" aria-label="Junk">
      <div className="layout-row">
        <p>
          {countOf(count, 'application')} {count === 1 ? 'looks' : 'look'} like junk.
        </p>
        <Button aria-expanded={isOpen} onPress={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'}
        </Button>
      </div>
      {isOpen && (
        <ul className="layout-lines">
          {groups.map((group) => (
            <li key={`${group.kind} ${group.applications[0]?.id}`} className="layout-row">
              <p>
                {wordsOf(group)}{' '}
                <span className="layout-quiet">
                  “<bdi>{group.example}</bdi>”
                </span>
              </p>
              <Button
                about={wordsOf(group)}
                onPress={() => {
                  // The pressed button disappears.
                  if (groups.length === 1) focusHeading()
                  queue.decide(group.applications, 'aside')
                }}
              >
                Put aside {formatNumber(group.applications.length)}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function wordsOf({ kind, key, applications }: Pick<JunkGroup, 'kind' | 'key' | 'applications'>) {
  const count = formatNumber(applications.length)
  if (kind === 'reason') return `${count} with the same reason`
  if (kind === 'links') return `${count} with nothing but links`
  return `${count} from ${key ?? 'one domain'} within an hour`
}
