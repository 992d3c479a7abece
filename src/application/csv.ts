import type { Answer } from './statuses.ts'
import { columns, paidSolutions, teamSizes, type Application } from './application.ts'

/** It tells spreadsheets that a table is UTF-8. */
export const byteOrderMark = '\ufeff'

/** The columns of a stored application. */
export const storedColumns = ['id', 'created_at', ...columns] as const

/**
 * The columns that a table may have: those of a stored application, its status, and what organisers did about it. Until 2.0
 * a new one comes before `decided_by`. Each is a key of the row: the desk leaves out columns that its rows do not have.
 */
export const tableColumns = [
  ...storedColumns,
  'status',
  'answer',
  'answered_at',
  'decided_by',
  'decided_at',
  'notes',
  'letters',
] as const

export type TableColumn = (typeof tableColumns)[number]

/** What organisers did about an application, from `private.made_of`; moments are in ISO 8601. */
export interface Made {
  /** Whether the applicant comes, and when they said so; null where they have not answered, or are not accepted. */
  answer: Answer | null
  answered_at: string | null
  /** Who set its status last, and when; null where nobody set it. */
  decided_by: string | null
  decided_at: string | null
  /** The oldest first. */
  notes: { at: string; author: string; note: string }[]
  /** What became of its letters, the oldest first, without drafts. */
  letters: {
    /** Blank where it was written to one person. */
    occasion: string
    way: 'mail' | 'automation'
    state: string
    otherwise: 'by hand' | 'told' | null
    /** When it left, or was released. */
    at: string
  }[]
}

/** What a row of a table is written from. */
export type TableRow = Partial<Application & Made> & { id: string; created_at: Date; status?: string }

/** The words that stand beside a code. */
const labels = { paid_solution: paidSolutions, team_size: teamSizes } as const

/** The first line of a table: the names of its columns. */
export function csvHeader(chosen: readonly TableColumn[]): string {
  return line(chosen.flatMap((column) => (column in labels ? [column, `${column}_label`] : [column])))
}

/** The lines of a table as RFC 4180 has them, each with its line end; a missing value is blank. */
export function csvLines(rows: readonly TableRow[], chosen: readonly TableColumn[]): string {
  return rows.map((row) => line(chosen.flatMap((column) => cells(row, column)))).join('')
}

function cells(row: TableRow, column: TableColumn) {
  if (column === 'decided_at' || column === 'answered_at') {
    const at = row[column]
    return [at ? momentOf(at) : '']
  }
  if (column === 'notes') return [cell(row.notes?.map(lineOfNote).join('\n'))]
  if (column === 'letters') return [cell(row.letters?.map(lineOfLetter).join('\n'))]
  const value = cell(row[column])
  if (column === 'paid_solution' || column === 'team_size') {
    const words: Partial<Record<string, string>> = labels[column]
    return [value, words[value] ?? '']
  }
  return [value]
}

function lineOfNote({ at, author, note }: Made['notes'][number]) {
  return `${momentOf(at)} ${author}: ${note}`
}

function lineOfLetter({ occasion, way, state, otherwise, at }: Made['letters'][number]) {
  const became = otherwise === 'told' ? 'told otherwise' : otherwise === 'by hand' ? 'sent by hand' : state
  const to = way === 'automation' ? ' (automation)' : ''
  return `${occasion || 'to one person'}${to}: ${became} ${momentOf(at)}`
}

function momentOf(at: string) {
  return new Date(at).toISOString()
}

function cell(value: string | boolean | Date | null | undefined) {
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
  // Stryker disable next-line ConditionalExpression: it is only quicker
  if (!separator.test(text)) return isFormula(text) ? `'${text}` : text
  const parts = text.split(separator)
  const isInList = (part: string, index: number) =>
    /[\r\n]/.test(parts[index - 1] ?? '') && part.startsWith('- ')
  return parts.map((part, index) => (isFormula(part) && !isInList(part, index) ? `'${part}` : part)).join('')
}

function isFormula(part: string) {
  return formula.test(part) && !telephoneNumber.test(part)
}

/** Control characters, which a program may obey. RFC 4180 allows none of them in a cell but line ends. */
// oxlint-disable-next-line no-control-regex
export const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
