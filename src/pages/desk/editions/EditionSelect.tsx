import { useId } from 'react'

import type { Edition } from '../../../client/desk/editions.ts'
import { hrefOf, type Route } from '../data/route.ts'
import { findEarlierEdition, nameOfEdition } from './editions.ts'

interface EditionSelectProps {
  /** All retreats, the newest first. */
  editions: readonly Edition[]
  /** The number of the retreat that is shown; undefined means the newest. */
  edition: number | undefined
  /** Called with a number, or with undefined for the newest. */
  onChoose: (edition: number | undefined) => void
}

/** A field that selects the retreat that is shown; nothing if there is only one. */
export function EditionSelect({ editions, edition, onChoose }: EditionSelectProps) {
  const id = useId()
  const [newest] = editions
  if (!newest || editions.length < 2) return null
  return (
    <p className="edition-select">
      <label className="visually-hidden" htmlFor={id}>
        Retreat
      </label>
      <select
        id={id}
        value={edition ?? newest.id}
        onChange={({ target: { value } }) =>
          onChoose(Number(value) === newest.id ? undefined : Number(value))
        }
      >
        {editions.map((each) => (
          <option key={each.id} value={each.id}>
            {nameOfEdition(each)}
          </option>
        ))}
      </select>
    </p>
  )
}

interface EarlierNoticeProps extends Pick<EditionSelectProps, 'edition'> {
  editions: readonly Edition[] | undefined
  /** The same screen for the newest retreat. */
  to: Route
}

/** A line that says which earlier retreat is shown, with a link to the newest; nothing for the newest. */
export function EarlierNotice({ editions, edition, to }: EarlierNoticeProps) {
  const earlier = findEarlierEdition(editions, edition)
  const newest = editions?.[0]
  if (!earlier || !newest) return null
  return (
    <p className="edition-earlier">
      This is <bdi>{nameOfEdition(earlier)}</bdi>.{' '}
      <a href={hrefOf(to)}>
        Back to <bdi>{nameOfEdition(newest)}</bdi>
      </a>
    </p>
  )
}
