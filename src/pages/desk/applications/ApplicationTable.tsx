import { memo, useLayoutEffect, useMemo, useRef, type ReactNode, type RefObject } from 'react'

import { rsvpStates, type Status } from '../../../application/statuses.ts'
import type { RsvpDetails, ListedApplication } from '../../../client/desk/applications.ts'
import type { LetterState } from '../../../client/desk/letters.ts'
import type { MarkCounts } from '../../../client/desk/marks.ts'
import { Pill } from '../decisions/Pill.tsx'
import type { Filters } from '../data/filters.ts'
import { shortMomentOf, today } from '../kit/format.ts'
import { hrefsIn } from '../data/route.ts'
import { useDecisionQueue, useDesk } from '../data/useDesk.tsx'
import { singleKeys, useSwitch } from '../kit/switches.ts'
import { letterAbout, toldWords } from '../letters/told.ts'
import { ApplicationRow } from './ApplicationRow.tsx'

interface RowListeners {
  /** Called when a box is ticked or unticked. `isRange`: this applies to all rows from the one ticked last. */
  onSelect: (id: string, isOn: boolean, isRange: boolean) => void
  /** Called when a row gets the focus. */
  onCurrent: (id: string) => void
  /** Called when an application is opened by keyboard. */
  onEnter: (id: string) => void
}

interface ApplicationTableProps extends RowListeners {
  rows: readonly ListedApplication[]
  /** Whether other rows are loading. */
  isStale: boolean
  /** Letters of all rows, oldest first. */
  letters: readonly LetterState[]
  /** RSVPs that were read after the rows, by application id. */
  rsvps: Readonly<Record<string, RsvpDetails>>
  /** Visible marks, by application id. */
  marks: Readonly<Record<string, MarkCounts>>
  /** The ids of applications with notes that the organiser has not seen. */
  newNotes: ReadonlySet<string>
  /** The ids of withdrawn applications. */
  withdrawn: ReadonlySet<string>
  filters: Filters
  selected: ReadonlySet<string>
  /** The id of the row that keys act on. */
  current: string | null
  /** Ids of applications that were erased meanwhile. */
  erased: ReadonlySet<string>
  /** Highlights what the search found. */
  highlight: ((text: string) => ReactNode) | undefined
}

const columns = ['Name', 'Company', 'Team', 'Reason', 'When', 'Status']

function byApplication(letters: readonly LetterState[]) {
  const all = new Map<string, LetterState[]>()
  for (const each of letters) all.set(each.application, [...(all.get(each.application) ?? []), each])
  return all
}

/** The table of rows. On a phone each row is a card. */
export function ApplicationTable(props: ApplicationTableProps) {
  const { rows, isStale, letters, rsvps, marks, newNotes, withdrawn, filters, selected, current, erased } =
    props
  const { highlight } = props
  const { isReader } = useDesk()
  const { queue } = useDecisionQueue()
  const latest = useRef<RowListeners>(props)
  useLayoutEffect(() => void (latest.current = props))
  const keysAreOn = useSwitch(singleKeys)
  const hrefFor = hrefsIn(filters)
  const day = today()
  const lettersByApplication = useMemo(() => byApplication(letters), [letters])
  return (
    <table className="rows-table layout-cards" aria-busy={isStale || undefined}>
      <caption className="visually-hidden">
        Applications, {filters.order} first.
        {keysAreOn && ' Keys: j and k move between rows, others act on the current row, ? lists all.'}
      </caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">{isReader ? 'Row' : 'Select'}</span>
          </th>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const { status, isPending } = queue.currentOf(row)
          return (
            <Row
              key={row.id}
              {...{ row, status, isPending, latest, highlight }}
              tab={filters.status}
              day={day}
              isChanged={queue.isChanged(row)}
              letter={letterAbout(status, lettersByApplication.get(row.id) ?? [])}
              rsvp={rsvps[row.id] ?? row}
              marks={marks[row.id]?.by}
              hasNewNote={newNotes.has(row.id)}
              isWithdrawn={withdrawn.has(row.id)}
              isCurrent={row.id === current}
              isSelectable={!isReader}
              isSelected={selected.has(row.id)}
              isErased={erased.has(row.id)}
              href={hrefFor(row.id)}
            />
          )
        })}
      </tbody>
    </table>
  )
}

interface RowProps {
  row: ListedApplication
  href: string
  status: Status
  /** Whether its status is being saved. */
  isPending: boolean
  /** Whether somebody else has changed its status. */
  isChanged: boolean
  letter: LetterState | undefined
  rsvp: RsvpDetails
  marks: MarkCounts['by'] | undefined
  hasNewNote: boolean
  isWithdrawn: boolean
  isCurrent: boolean
  isSelectable: boolean
  isSelected: boolean
  isErased: boolean
  highlight: ApplicationTableProps['highlight']
  tab: Filters['status']
  /** Today. Applications received today show the time instead of the day. */
  day: string
  /** The listeners, in a ref, so that new ones do not render all rows again. */
  latest: RefObject<RowListeners>
}

/** One row, memoized: moving by a key changes two rows of hundreds. */
const Row = memo(function Row(props: RowProps) {
  const { row, isErased, day, latest } = props
  const { id } = row
  return (
    <ApplicationRow
      {...props}
      when={shortMomentOf(row.created_at, new Date(day))}
      onSelect={({ target, nativeEvent }) =>
        latest.current.onSelect(id, target.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
      }
      onFocus={() => latest.current.onCurrent(id)}
      // A click event from the keyboard has detail 0.
      onOpen={({ detail }) => detail === 0 && latest.current.onEnter(id)}
    >
      {isErased ? (
        <span className="decisions-pill">Erased</span>
      ) : (
        <>
          <Pill {...props} />
          <RsvpOrLetter {...props} />
        </>
      )}
    </ApplicationRow>
  )
})

type RsvpOrLetterProps = Pick<RowProps, 'status' | 'letter' | 'rsvp' | 'day'>

/**
 * The line under the status: whether the applicant was told. For accepted people who were told it shows the RSVP, unless they
 * have not answered and their letter was not delivered. Rows have room for exactly one line.
 */
function RsvpOrLetter({ status, letter, rsvp: { answer, answer_state: state }, day }: RsvpOrLetterProps) {
  const isUndelivered = letter?.state === 'refused' || letter?.state === 'given up'
  if (status === 'accepted' && state && state !== 'not told' && (answer || !isUndelivered))
    return (
      <span className={state === 'late' ? 'rows-letter rows-late' : 'rows-letter'}>{rsvpStates[state]}</span>
    )
  const told = toldWords(status, letter, new Date(day))
  return told && <span className="rows-letter">{told}</span>
}
