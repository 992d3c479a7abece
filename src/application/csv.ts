import { columns, paidSolutions, teamSizes, type Application } from './application.ts'

/** By it spreadsheets know that a table is UTF-8. */
export const byteOrderMark = '\ufeff'

/** The columns of a stored application. */
export const storedColumns = ['id', 'created_at', ...columns] as const

/** The columns that a table may have: those of a stored application, and where it stands. */
export const tableColumns = [...storedColumns, 'status'] as const

export type TableColumn = (typeof tableColumns)[number]

/** What a row of a table is made of. */
export type TableRow = Partial<Application> & { id: string; created_at: Date; status?: string }

/** Beside a code stand its words. */
const labels = { paid_solution: paidSolutions, team_size: teamSizes } as const

/** The first line of a table: the names of its columns. */
export function csvHeader(chosen: readonly TableColumn[]): string {
  return line(chosen.flatMap((column) => (column in labels ? [column, `${column}_label`] : [column])))
}

/** The lines of a table as RFC 4180 has them, each with its end; what is not there is blank. */
export function csvLines(rows: readonly TableRow[], chosen: readonly TableColumn[]): string {
  return rows.map((row) => line(chosen.flatMap((column) => cells(row, column)))).join('')
}

function cells(row: TableRow, column: TableColumn) {
  const value = cell(row[column])
  if (column === 'paid_solution' || column === 'team_size') {
    const words: Partial<Record<string, string>> = labels[column]
    return [value, words[value] ?? '']
  }
  return [value]
}

function cell(value: string | boolean | Date | undefined) {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'boolean') return String(value)
  return defuse((value ?? '').replace(control, '\ufffd'))
}

const special = /[",\r\n]/

function line(values: readonly string[]) {
  return `${values.map((value) => (special.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',')}\r\n`
}

/** Signs that make a cell a formula, also in their wide forms, and what may stand before them unseen. */
const formula = /^[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]/
const separator = /([;\t\r\n])/
const telephoneNumber = /^[+\-\d ()[\]]+$/

/**
 * Spreadsheets take what begins with certain signs for a formula; an apostrophe makes it text. Where semicolons or
 * tabs separate, a cell begins at each of those too, and a row at each end of a line, since the quote then stands
 * in the middle of a cell. Telephone numbers stay as they are, and so do the lines of a list with dashes.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
function defuse(text: string) {
  // Most cells are one part, and splitting a million of them takes seconds.
  if (!separator.test(text)) return isFormula(text) ? `'${text}` : text
  const parts = text.split(separator)
  const isInList = (index: number) => /[\r\n]/.test(parts[index - 1] ?? '') && parts[index]?.startsWith('- ')
  return parts.map((part, index) => (isFormula(part) && !isInList(index) ? `'${part}` : part)).join('')
}

function isFormula(part: string) {
  return formula.test(part) && !telephoneNumber.test(part)
}

/** Characters that a program would obey. RFC 4180 has none of them in a cell but the ends of lines. */
// oxlint-disable-next-line no-control-regex
export const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
