import { daysOf } from '../../../application/calendar.ts'
import type { Edition } from '../../../client/desk/editions.ts'

/** The name of a retreat; if it has none, words with its number. */
export function nameOfEdition({ id, name }: Pick<Edition, 'id' | 'name'>): string {
  if (name !== '') return name
  return id === 1 ? 'First retreat' : `Retreat ${id}`
}

/** The days of a retreat in a few words; blank if they are not known. */
export function daysOfEdition({ starts_on, ends_on }: Edition): string {
  return starts_on && ends_on ? daysOf({ starts_on, ends_on }) : ''
}

/** Finds a retreat by its number, if it is not the newest. */
export function findEarlierEdition(
  editions: readonly Edition[] | undefined,
  edition: number | undefined,
): Edition | undefined {
  return editions?.slice(1).find(({ id }) => id === edition)
}
