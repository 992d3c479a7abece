import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { JunkGroup } from '../../../client/desk/applications.ts'
import { Button } from '../kit/Button.tsx'
import { Dialog, DialogContent } from '../kit/Dialog.tsx'
import { focusOn } from '../kit/focus.ts'
import { nameOf } from '../data/names.ts'
import { countOf, formatNumber } from '../kit/format.ts'
import { useDecisionQueue, useDesk } from '../data/useDesk.tsx'

/** Milliseconds between two searches for junk, which read many applications. */
const interval = 300_000

/**
 * A button beside the heading, and a dialog with applications that a program seems to have sent, to put aside in groups.
 *
 * @param newest The number of the newest retreat, in which junk is searched.
 */
export function JunkSuggestions({ newest }: { newest: number | undefined }) {
  const { queue } = useDecisionQueue()
  const { call } = useDesk()
  const { data = [] } = useQuery({
    queryKey: ['junk', newest],
    queryFn: ({ signal }) => call('desk_junk', {}, signal),
    staleTime: interval,
    refetchInterval: interval,
    refetchOnReconnect: 'always',
  })
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
  if (count === 0 && !isOpen) return null
  return (
    <Dialog
      button={`${formatNumber(count)} ${count === 1 ? 'looks' : 'look'} like junk…`}
      onOpen={() => setIsOpen(true)}
      onClosed={() => setIsOpen(false)}
    >
      {(close) => (
        <DialogContent
          title={
            count === 0
              ? 'Nothing looks like junk'
              : `${countOf(count, 'application')} ${count === 1 ? 'looks' : 'look'} like junk`
          }
          close={close}
        >
          <p>
            Applications that you put aside move to a tab of their own, out of all other lists and counts.
            Nobody is told.
          </p>
          <ul className="layout-lines">
            {groups.map((group) => (
              <li key={`${group.kind} ${group.applications[0]?.id}`} className="layout-row">
                <p className="list-junk-group">
                  {wordsOf(group)}{' '}
                  <span className="layout-quiet">
                    “<bdi>{group.example}</bdi>”
                  </span>
                </p>
                <Button
                  about={wordsOf(group)}
                  onPress={({ currentTarget }) => {
                    // This button disappears.
                    focusOn(currentTarget.closest('dialog')?.querySelector(':scope > div button'))
                    queue.decide(group.applications, 'aside')
                  }}
                >
                  Put aside {formatNumber(group.applications.length)}
                </Button>
              </li>
            ))}
          </ul>
        </DialogContent>
      )}
    </Dialog>
  )
}

function wordsOf({ kind, key, applications }: Pick<JunkGroup, 'kind' | 'key' | 'applications'>) {
  const count = formatNumber(applications.length)
  if (kind === 'reason') return `${count} with the same reason`
  if (kind === 'links') return `${count} with nothing but links`
  return `${count} from ${key ?? 'one domain'} within an hour`
}
