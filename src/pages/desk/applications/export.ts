import {
  byteOrderMark,
  csvHeader,
  csvLines,
  tableColumns,
  type TableColumn,
} from '../../../application/csv.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { Exported, Filter, Page } from '../../../client/desk/applications.ts'

/** Thrown where blind reading was switched between two pages: half of the rows would lack columns. */
class SwitchedMeanwhile extends Error {
  override message = 'Blind reading was switched meanwhile: please download again.'
}

/**
 * Asks for everything that a filter lets through, page after page, as a table: the command's columns without those
 * that blind reading hides.
 *
 * @param onPage Called with how many applications came so far.
 * @returns The file, and how many applications are in it.
 * @throws {Error} where a page failed, where it was stopped, or where the pages do not fit together.
 */
export async function readTable(
  callDesk: CallDesk,
  filter: Filter,
  onPage: (count: number) => void,
  signal: AbortSignal,
): Promise<{ file: Blob; count: number }> {
  // As pieces, which the browser may keep on disk.
  const pieces: Blob[] = []
  let columns: TableColumn[] | undefined
  let count = 0
  let after: Page<Exported>['next'] = null
  do {
    const page: Page<Exported> = await callDesk('desk_export', { filter, after }, signal)
    signal.throwIfAborted()
    const [first] = page.applications
    if (first !== undefined) {
      const given = tableColumns.filter((column) => column in first)
      columns ??= given
      if (given.length !== columns.length) throw new SwitchedMeanwhile()
      const rows = page.applications.map((row) => ({ ...row, created_at: new Date(row.created_at) }))
      pieces.push(new Blob([csvLines(rows, columns)]))
    }
    count += page.applications.length
    onPage(count)
    after = page.next
  } while (after !== null)
  const file = new Blob([byteOrderMark, csvHeader(columns ?? tableColumns), ...pieces], { type: 'text/csv' })
  return { file, count }
}
