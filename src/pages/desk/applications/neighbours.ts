import { formatNumber } from '../kit/format.ts'
import type { OpenedList } from './opened-list.ts'

/**
 * The ids before and after an application, and its position in words; blank if unknown. `read`: once all are read, how many.
 *
 * @param decided Number of the ids whose applications have been decided; null unless the list is of new applications.
 */
export function neighboursIn(
  { ids, first, count, more }: OpenedList,
  id: string,
  decided: number | null = null,
) {
  const index = ids.indexOf(id)
  if (index === -1) return { previous: undefined, next: undefined, position: '', read: undefined }
  const number = first === null ? null : first + index
  const total = Math.max(count, number ?? 0)
  const toRead = decided === null || more ? '' : `, ${formatNumber(total - decided)} to read`
  return {
    previous: ids[index - 1],
    next: ids[index + 1],
    read: decided !== null && !more && decided >= total ? total : undefined,
    position:
      number === null
        ? ''
        : `${formatNumber(number)} of ${more ? 'more than ' : ''}${formatNumber(total)}${toRead}`,
  }
}
