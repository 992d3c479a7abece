import { answerStates } from '../../../application/statuses.ts'
import type { AnswerShown, Listed } from '../../../client/desk/applications.ts'
import type { LetterState } from '../../../client/desk/letters.ts'
import { StatusPill } from '../decisions/DecisionBar.tsx'
import type { Filters } from '../kit/filters.ts'
import { hrefOf } from '../kit/route.ts'
import { useDecisionQueue } from '../kit/useDesk.tsx'
import { singleKeys } from '../kit/switches.ts'
import { useSwitch } from '../kit/useSwitch.ts'
import { ApplicationRow } from './ApplicationRow.tsx'

interface ApplicationTableProps {
  rows: readonly Listed[]
  /** Whether other rows are on their way. */
  isStale: boolean
  /** Letters of any applications, the oldest first. */
  letters: readonly LetterState[]
  /** Whether people come, where that was read after the rows. */
  answers: Readonly<Record<string, AnswerShown>>
  filters: Filters
  selected: ReadonlySet<string>
  current: string | null
  /** Applications that were erased meanwhile. */
  gone: ReadonlySet<string>
  /** Called for a box that was ticked or unticked; `isRange`: with those from the last one to this. */
  onSelect: (id: string, isOn: boolean, isRange: boolean) => void
  onCurrent: (id: string) => void
  /** Called for an application that is opened by keyboard. */
  onEnter: (id: string) => void
}

const columns = ['Name', 'Company', 'Team', 'Reason', 'When', 'Status']

/** The rows of a list. On a phone each is a card. */
export function ApplicationTable(props: ApplicationTableProps) {
  const { rows, isStale, letters, answers, filters, selected, current, gone, onSelect, onCurrent, onEnter } =
    props
  const keysAreOn = useSwitch(singleKeys)
  return (
    <table className="rows-table" aria-busy={isStale || undefined}>
      <caption className="visually-hidden">
        Applications, the {filters.order} first.
        {keysAreOn &&
          ' By keys: j and k go from row to row, other keys act on that row, ? lists all of them.'}
      </caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Select</span>
          </th>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <ApplicationRow
            key={row.id}
            {...{
              row,
              isCurrent: row.id === current,
              isSelected: selected.has(row.id),
              isGone: gone.has(row.id),
            }}
            href={hrefOf({ screen: 'application', id: row.id, filters })}
            onSelect={({ target, nativeEvent }) =>
              onSelect(row.id, target.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
            }
            onFocus={() => onCurrent(row.id)}
            // The click that a key makes is no first or second one.
            onOpen={({ detail }) => detail === 0 && onEnter(row.id)}
          >
            {gone.has(row.id) ? (
              <span className="decisions-pill">Erased</span>
            ) : (
              <>
                <StatusPill seen={row} />
                <StandingWord row={row} letters={letters} answer={answers[row.id] ?? row} />
              </>
            )}
          </ApplicationRow>
        ))}
      </tbody>
    </table>
  )
}

interface StandingWordProps {
  row: Listed
  letters: readonly LetterState[]
  answer: AnswerShown
}

/**
 * A few words about an application. For somebody who was told of their acceptance: whether they come. For others, and where
 * that letter may not have arrived: what became of the letter about their status. It is one line, for which rows have room.
 */
function StandingWord({ row, letters, answer: { answer, answer_state: state } }: StandingWordProps) {
  const { status } = useDecisionQueue().queue.shownOf(row)
  const those = letters.filter(({ application, occasion }) => application === row.id && occasion === status)
  const letter = those.findLast(({ way }) => way === 'mail') ?? those.at(-1)
  const isLost = letter?.state === 'refused' || letter?.state === 'given up'
  const saysMore = letter !== undefined && answer === null && (state === 'not told' || isLost)
  if (status === 'accepted' && state !== null && !saysMore)
    return (
      <span className={state === 'late' ? 'rows-letter rows-late' : 'rows-letter'}>
        {answerStates[state]}
      </span>
    )
  return letter && <span className="rows-letter">{wordOf(letter)}</span>
}

function wordOf({ way, state, otherwise }: LetterState) {
  if (otherwise === 'told') return 'told otherwise'
  if (way === 'automation' && state === 'sent') return 'automation told'
  return `${way === 'mail' ? 'letter' : 'automation'} ${state === 'sending' ? 'waiting' : state}`
}
