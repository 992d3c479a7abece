import { formatNumber } from '../kit/format.ts'
import type { OpenedList } from './opened-list.ts'

/**
 * The ids before and after an application, and its position in words; blank if unknown. Where organisers mark, an application
 * that was read is not yet decided, and the words say how many are left to decide. `read`: once all are decided, how many.
 *
 * @param decided Number of the ids whose applications have been decided; null unless the list is of new applications.
 */
export function neighboursIn(
  { ids, first, count, more, isMarking }: OpenedList,
  id: string,
  decided: number | null = null,
) {
  const index = ids.indexOf(id)
  if (index === -1) return { previous: undefined, next: undefined, position: '', read: undefined }
  const number = first === null ? null : first + index
  const total = Math.max(count, number ?? 0)
  const left =
    decided === null || more ? '' : `, ${formatNumber(total - decided)} to ${isMarking ? 'decide' : 'read'}`
  return {
    previous: ids[index - 1],
    next: ids[index + 1],
    read: decided !== null && !more && decided >= total ? total : undefined,
    position:
      number === null
        ? ''
        : `${formatNumber(number)} of ${more ? 'more than ' : ''}${formatNumber(total)}${left}`,
  }
}
