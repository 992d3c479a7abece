import {
  byteOrderMark,
  csvHeader,
  spreadsheetLines,
  deskColumns,
  type TableColumn,
} from '../../../application/csv.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { ExportedApplication, Filter, Page } from '../../../client/desk/applications.ts'
import { announce } from '../kit/announce.tsx'
import { countOf } from '../kit/format.ts'
import { saveFile } from '../kit/save-file.ts'

/** A table as CSV, and the number of applications in it. */
interface Table {
  file: Blob
  count: number
}

/** Thrown if blind reading was switched between two pages: some rows would lack columns. */
class BlindReadingSwitchedError extends Error {
  override message = 'Blind reading was switched meanwhile: please download again.'
}

/**
 * Downloads all applications that match a filter, page by page, as CSV. The columns are those of the export command, except those
 * that blind reading hides. Announces it if the signal aborts.
 *
 * @param onPage Called with the number of applications received so far.
 * @returns The file, and the number of applications in it.
 * @throws {Error} if a page fails, the signal aborts, or the pages have different columns.
 */
export async function readTable(
  callDesk: CallDesk,
  filter: Filter,
  onPage: (count: number) => void,
  signal: AbortSignal,
): Promise<Table> {
  const announceStop = () => announce('The download was stopped. Nothing was saved.')
  if (signal.aborted) announceStop()
  signal.addEventListener('abort', announceStop)
  // Blobs, because the browser may store them on disk.
  const pieces: Blob[] = []
  let columns: TableColumn[] | undefined
  let count = 0
  let after: Page<ExportedApplication>['next'] = null
  do {
    const page: Page<ExportedApplication> = await callDesk('desk_export', { filter, after }, signal)
    signal.throwIfAborted()
    const [first] = page.applications
    if (first !== undefined) {
      const pageColumns = deskColumns.filter((column) => column in first)
      columns ??= pageColumns
      if (pageColumns.length !== columns.length) throw new BlindReadingSwitchedError()
      const rows = page.applications.map((row) => ({ ...row, created_at: new Date(row.created_at) }))
      pieces.push(new Blob([spreadsheetLines(rows, columns)]))
    }
    count += page.applications.length
    onPage(count)
    after = page.next
  } while (after !== null)
  const file = new Blob([byteOrderMark, csvHeader(columns ?? deskColumns), ...pieces], { type: 'text/csv' })
  return { file, count }
}

/**
 * Saves a table as a file with today's date in its name, and announces it. Announces that there is nothing in an empty one.
 *
 * @param edition The number of the earlier retreat whose table it is; undefined means the newest.
 */
export function saveTable({ file, count }: Table, edition: number | undefined): void {
  if (count === 0) return announce('Nothing was downloaded: the list is empty.')
  saveFile(file, edition === undefined ? 'applications' : `applications-of-retreat-${edition}`, 'csv')
  announce(`Downloaded ${countOf(count, 'application')}.`)
}
