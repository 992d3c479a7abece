import { Link } from 'wouter'

import { teamSizes } from '../../../application/application.ts'
import type { LetterState, Listed } from '../../../client/desk.ts'
import { momentOf, shortMomentOf } from '../dates.ts'
import { StatusPill } from '../judging/StatusPill.tsx'
import { LetterWord } from '../letters/LetterWord.tsx'
import { shortOf } from '../pieces.ts'
import { addressOf, type Asked } from './asked.ts'
import { nameOf } from './names.ts'

interface TableProps {
  rows: readonly Listed[]
  letters: readonly LetterState[]
  asked: Asked
  selected: ReadonlySet<string>
  current: string | null
  /** Those that were erased meanwhile. */
  gone: ReadonlySet<string>
  onSelect: (row: Listed, isOn: boolean) => void
  onCurrent: (id: string) => void
}

/** The rows of a list. On a phone each is a card. */
export function Table({ rows, letters, asked, selected, current, gone, onSelect, onCurrent }: TableProps) {
  return (
    <table className="applications">
      <caption className="visually-hidden">Applications, the newest first</caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Select</span>
          </th>
          <th scope="col">Name</th>
          <th scope="col">Company</th>
          <th scope="col">Team</th>
          <th scope="col">Reason</th>
          <th scope="col">When</th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={row.id}
            className={row.id === current ? 'current' : undefined}
            onFocus={() => onCurrent(row.id)}
          >
            <td className="select">
              <label>
                <input
                  type="checkbox"
                  aria-label={`Select ${nameOf(row)}`}
                  checked={selected.has(row.id)}
                  disabled={gone.has(row.id)}
                  onChange={({ target }) => onSelect(row, target.checked)}
                />
              </label>
            </td>
            <th scope="row" className="name">
              <Link id={row.id} href={addressOf(asked, row.id)}>
                <bdi>{nameOf(row)}</bdi>
              </Link>
              {row.same_email && <span className="again">applied more than once</span>}
            </th>
            <td className="company">
              <bdi>{row.company === undefined ? 'hidden' : shortOf(row.company)}</bdi>
            </td>
            <td className="team">{row.team_size === '' ? '' : teamSizes[row.team_size]}</td>
            <td className="reason">{row.reason}</td>
            <td className="when">
              <time dateTime={row.created_at} title={momentOf(row.created_at)}>
                {shortMomentOf(row.created_at)}
              </time>
            </td>
            <td className="standing">
              {gone.has(row.id) ? (
                <span className="pill">Erased</span>
              ) : (
                <>
                  <StatusPill seen={row} />
                  <LetterWord row={row} letters={letters} />
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
