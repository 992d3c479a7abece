import { blanks } from './blank.ts'
import type { Rsvp } from './statuses.ts'
import { columns, paidSolutions, teamSizes, type Application } from './application.ts'

/** Marks a table as UTF-8 for spreadsheets. */
export const byteOrderMark = '\ufeff'

/** The columns of a stored application. */
export const storedColumns = ['id', 'created_at', ...columns] as const

/**
 * The columns that a table may have: those of a stored application, its status, and what organisers did about it. Until
 * version 2.0 of this product, a new column is added directly before `decided_by`: the ones to its left keep their positions.
 * Each is a key of the row. The desk leaves out columns that its rows lack.
 */
export const tableColumns = [
  ...storedColumns,
  'status',
  'answer',
  'answered_at',
  'marks',
  'questions',
  'edition',
  'added_by',
  'withdrawn_at',
  'decided_by',
  'decided_at',
  'notes',
  'letters',
] as const

/** The columns of the desk's table. Its rows are all of one retreat. */
export const deskColumns = tableColumns.filter((column) => column !== 'edition')

/** The columns of the operator's table. Marks are for organisers. */
export const operatorColumns = tableColumns.filter((column) => column !== 'marks')

/** The name of a column of the table. */
export type TableColumn = (typeof tableColumns)[number]

/** The organisers' work on an application, as the function `private.made_of` returns it; times are in ISO 8601. */
export interface OrganiserWork {
  /** The applicant's RSVP, and when they gave it; null if there is none, or they are not accepted. */
  answer: Rsvp | null
  answered_at: string | null
  /**
   * The marks that the reader may see, in the order of their authors. `after_seeing`: the author could see marks of
   * others before giving or last changing this one.
   */
  marks: { author: string; mark: 'yes' | 'maybe' | 'no'; why: string; after_seeing: boolean }[]
  /** The answers to questions that are not private, in the order of the questions. */
  questions: { question: string; answer: string }[]
  /** When the applicant withdrew the application; null unless it is withdrawn. */
  withdrawn_at: string | null
  /** The name or the email of the organiser who last set the application's status, and when; null if nobody has set it. */
  decided_by: string | null
  decided_at: string | null
  /** The oldest first. */
  notes: { at: string; author: string; note: string }[]
  /** The states of its letters, the oldest first, without drafts. */
  letters: {
    /** Blank for a letter to one person. */
    occasion: string
    way: 'mail' | 'automation'
    state: string
    /** How the applicant was told without our mail server; null if our mail server sent the letter. */
    otherwise: 'by hand' | 'told' | null
    /** When it was sent, or released. */
    at: string
  }[]
}

/** The data of a table's row. */
export type TableRow = Partial<Application & OrganiserWork> & {
  id: string
  created_at: Date
  status?: string
  /** The number of the application's retreat. The desk's rows lack it, since they are all of one retreat. */
  edition?: number
  /** The organiser who added the person by hand, in the operator's table by their email; null if the person applied. */
  added_by?: string | null
}

/** The labels of coded values. */
const labels = { paid_solution: paidSolutions, team_size: teamSizes } as const

/** The first line of a table: the names of its columns. */
export function csvHeader(chosen: readonly TableColumn[]): string {
  return line(chosen.flatMap((column) => (column in labels ? [column, `${column}_label`] : [column])))
}

/** The lines of a table in the format of RFC 4180, each with its line end. A missing value is blank. */
export function csvLines(rows: readonly TableRow[], chosen: readonly TableColumn[]): string {
  return rows.map((row) => line(chosen.flatMap((column) => cells(row, column)))).join('')
}

/** The same lines for people, who open them in a spreadsheet: telephone numbers and other long numbers stay text. */
export function spreadsheetLines(rows: readonly TableRow[], chosen: readonly TableColumn[]): string {
  return rows.map((row) => line(chosen.flatMap((column) => cells(row, column).map(numberAsText)))).join('')
}

/** Lines of texts for people in the same format, such as a table whose columns they choose. */
export function csvTextLines(rows: readonly (readonly string[])[]): string {
  return rows.map((texts) => line(texts.map((text) => numberAsText(cell(text))))).join('')
}

function cells(row: TableRow, column: TableColumn) {
  if (column === 'decided_at' || column === 'answered_at' || column === 'withdrawn_at') {
    const at = row[column]
    return [at ? momentOf(at) : '']
  }
  if (column === 'marks') return [cell(row.marks?.map(markLine).join('\n'))]
  if (column === 'questions') return [cell(row.questions?.map(questionLine).join('\n'))]
  if (column === 'notes') return [cell(row.notes?.map(noteLine).join('\n'))]
  if (column === 'letters') return [cell(row.letters?.map(letterLine).join('\n'))]
  const value = cell(row[column])
  if (column === 'paid_solution' || column === 'team_size') {
    const words: Partial<Record<string, string>> = labels[column]
    return [value, words[value] ?? '']
  }
  return [value]
}

function questionLine({ question, answer }: OrganiserWork['questions'][number]) {
  return `${question}: ${answer}`
}

function noteLine({ at, author, note }: OrganiserWork['notes'][number]) {
  return `${momentOf(at)} ${author}: ${note}`
}

function markLine({ author, mark, why, after_seeing: isAfterSeeing }: OrganiserWork['marks'][number]) {
  return `${author}: ${mark}${isAfterSeeing ? ' (after seeing)' : ''}${why === '' ? '' : `, ${why}`}`
}

function letterLine({ occasion, way, state, otherwise, at }: OrganiserWork['letters'][number]) {
  const outcome = otherwise === 'told' ? 'told otherwise' : otherwise === 'by hand' ? 'sent by hand' : state
  const to = way === 'automation' ? ' (automation)' : ''
  return `${occasion || 'to one person'}${to}: ${outcome} ${momentOf(at)}`
}

function momentOf(at: string) {
  return new Date(at).toISOString()
}

function cell(value: string | boolean | number | Date | null | undefined) {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'boolean' || typeof value === 'number') return String(value)
  return defuse((value ?? '').replace(control, '\ufffd'))
}

const special = /[",\r\n]/

function line(values: readonly string[]) {
  return `${values.map((value) => (special.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',')}\r\n`
}

/** A character that makes a cell a formula, also in its wide form, and also after invisible characters. */
const formula = new RegExp(String.raw`^[${blanks}]*[=+\-@\uff1d\uff0b\uff0d\uff20]`)
const separator = /([;\t\r\n])/
const telephoneNumber = /^[+\-\d ()[\]]+$/

/**
 * Puts an apostrophe before cells that spreadsheets would read as formulas, which makes them text. Some programs separate cells
 * by semicolons or tabs, and begin a row at each line end. So an apostrophe is also put after these characters, if a formula
 * follows: other programs show it in the middle of a cell. Telephone numbers and lists with dashes stay unchanged.
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

/** A text that a spreadsheet reads as a number. */
const number = /^\s*[+\-\uff0b\uff0d]?\p{Nd}[\p{Nd}\s.,]*(?:e[+-]?\p{Nd}+)?$/iu

/**
 * Puts an apostrophe before a number that a spreadsheet would show as another one: without its plus sign or its first zero, with
 * zeros for an exponent, or rounded from twelve digits on.
 */
function numberAsText(text: string) {
  const isChanged = /^\s*(?:[+\uff0b]|[0\uff10][\p{Nd}\s])|e|(?:\p{Nd}\P{Nd}*){12}/iu.test(text)
  return isChanged && number.test(text) ? `'${text}` : text
}

function isFormula(part: string) {
  return formula.test(part) && !telephoneNumber.test(part)
}

/** Control characters except tabs and line ends. A program may obey them, and RFC 4180 allows none of them in a cell. */
// oxlint-disable-next-line no-control-regex
export const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
