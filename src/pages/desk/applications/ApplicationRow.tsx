import type { ChangeEvent, MouseEvent, ReactNode } from 'react'

import { teamSizes } from '../../../application/application.ts'
import type { ListedApplication } from '../../../client/desk/applications.ts'
import type { MarkCounts } from '../../../client/desk/marks.ts'
import { nameOf } from '../data/names.ts'
import { momentOf, shortOf } from '../kit/format.ts'
import { initialsOf, markWords } from './marks.ts'

interface ApplicationRowProps {
  row: ListedApplication
  /** The address of the application. */
  href: string
  /** When it was received, in short. The text changes at midnight. */
  when: string
  /** Whether it has a checkbox. */
  isSelectable: boolean
  isSelected: boolean
  isErased: boolean
  isCurrent: boolean
  /** The visible marks. */
  marks?: MarkCounts['by'] | undefined
  /** Whether somebody else has written a note that the organiser has not seen. */
  hasNewNote?: boolean
  /** Highlights what a search found. */
  highlight?: ((text: string) => ReactNode) | undefined
  onSelect: (event: ChangeEvent<HTMLInputElement>) => void
  onFocus?: () => void
  onOpen?: (event: MouseEvent) => void
  /** The status of the application. */
  children: ReactNode
}

/** The id of the checkbox that selects an application. */
export const checkboxId = (id: string): string => `select-${id}`

/**
 * A row of the list. It uses no React features: the inline script draws the first rows before React has loaded
 * (`early-list.tsx`).
 */
export function ApplicationRow(props: ApplicationRowProps): ReactNode {
  const { row, href, when, isSelectable, isSelected, isErased, isCurrent, marks } = props
  const { onSelect, onFocus, onOpen, children, hasNewNote } = props
  const { highlight = (text) => text } = props
  const name = nameOf(row)
  return (
    <tr aria-current={isCurrent || undefined} onFocus={onFocus} onClick={openRow}>
      <td className="rows-select">
        {isSelectable && (
          <label>
            <input
              id={checkboxId(row.id)}
              type="checkbox"
              aria-label={`Select ${name}`}
              checked={isSelected}
              disabled={isErased}
              onChange={onSelect}
            />
          </label>
        )}
      </td>
      <th scope="row" className="rows-name">
        <a id={row.id} className="rows-link" href={href} onClick={onOpen}>
          <bdi>{highlight(name)}</bdi>
        </a>
        {hasNewNote && (
          <span className="rows-new-note" title="New note">
            <span className="visually-hidden">New note</span>
          </span>
        )}
        {row.same_email && <span className="rows-remark">applied more than once</span>}
        {row.applied_before && <span className="rows-remark">applied before</span>}
      </th>
      <td className="rows-company">
        <bdi>{row.company === undefined ? 'hidden' : highlight(shortOf(row.company))}</bdi>
      </td>
      <td className="rows-team">{row.team_size === '' ? '' : teamSizes[row.team_size]}</td>
      <td className="rows-reason">
        <p className="rows-excerpt">{row.reason.trim() === '' ? 'No answer' : highlight(row.reason)}</p>
      </td>
      <td className="rows-when">
        <time dateTime={row.created_at} title={momentOf(row.created_at)}>
          {when}
        </time>
        {marks && <Marks marks={marks} />}
      </td>
      <td className="rows-status">{children}</td>
    </tr>
  )
}

/** The initials of those who marked it, each with the sign of the mark. */
function Marks({ marks }: { marks: MarkCounts['by'] }) {
  const words = marks.map(([author, mark]) => `${author}: ${markWords[mark]}`).join(', ')
  return (
    <>
      <span className="visually-hidden">Marks: {words}</span>
      <span className="rows-marks" title={words} aria-hidden="true">
        {marks.map(([author, mark]) => (
          <span key={author} data-mark={mark}>
            {initialsOf(author)}
          </span>
        ))}
      </span>
    </>
  )
}

/** A click anywhere in the row opens the application, except on its checkbox, while text is selected, or with a modifier key. */
function openRow({ target, currentTarget, ctrlKey, metaKey, shiftKey }: MouseEvent<HTMLElement>) {
  const isOnLinkOrBox = target instanceof Element && target.closest('a, label') !== null
  if (isOnLinkOrBox || ctrlKey || metaKey || shiftKey || getSelection()?.isCollapsed === false) return
  const click = { bubbles: true, cancelable: true, detail: 1 }
  currentTarget.querySelector('a')?.dispatchEvent(new window.MouseEvent('click', click))
}
