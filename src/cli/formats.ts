import { styleText } from 'node:util'

import { paidSolutions, teamSizes } from '../application/application.ts'
import { isBlank } from '../application/blank.ts'
import { countOf } from '../application/count.ts'
import { control, csvHeader, csvLines, storedColumns, operatorColumns } from '../application/csv.ts'
import { textFields } from '../application/fields.ts'
import { statuses, type Status } from '../application/statuses.ts'
import type { ApplicationRow } from './queries/applications.ts'
import { wrap } from './wrap.ts'

type Batches = AsyncIterable<ApplicationRow[]>

/** The phrase with the number of organisers' accounts, which follows a count of applications. */
export function accountsText(count: number): string {
  if (count === 0) return ''
  return ` and the ${count === 1 ? 'account' : 'accounts'} of ${countOf(count, 'organiser')}`
}

/** A table in the format of RFC 4180, with a header of column names. */
export async function* toCsv(batches: AsyncIterable<ApplicationRow[]>): AsyncGenerator<string> {
  yield csvHeader(operatorColumns)
  for await (const batch of batches) yield csvLines(batch, operatorColumns)
}

/** One JSON object a line, with the column names as keys. */
export async function* toJsonLines(batches: Batches): AsyncGenerator<string> {
  for await (const batch of batches) {
    yield (
      batch
        .map((row) =>
          JSON.stringify(Object.fromEntries(storedColumns.map((column) => [column, row[column]]))),
        )
        // JSON does not escape all control characters.
        .map((line) => `${line.replace(control, escapeSequence)}\n`)
        .join('')
    )
  }
}

/** A value as indented JSON, for people to read. */
export function toJson(value: object): string {
  return `${JSON.stringify(value, null, 2).replace(control, escapeSequence)}\n`
}

/** The differences between a text in a file and one on a terminal. */
interface TextStyle {
  name: (name: string) => string
  time: (time: Date) => string
  /** The lines that a value takes. */
  lines: (value: string) => string[]
}

/** The width of the labels, in characters. */
const labelWidth = 13
/** The indentation of values. */
const indent = ' '.repeat(2 + labelWidth + 1)

/** A text to read in a file: one paragraph per application, then the count. */
export async function* toText(batches: Batches): AsyncGenerator<string> {
  const style: TextStyle = {
    name: (name) => name,
    time: (time) => time.toISOString(),
    lines: (value) => value.split('\n'),
  }
  let count = 0
  for await (const batch of batches) {
    count += batch.length
    yield batch.map((row) => `${paragraph(row, style)}\n\n`).join('')
  }
  yield count === 0 ? 'No applications yet.\n' : `${countOf(count, 'application')}.\n`
}

/** Swedish formats a date and a time like ISO 8601. */
const minuteFormat = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short' })

/** A time in this machine's time zone, with the zone's name. */
export function localTime(time: Date): string {
  return `${minuteFormat.format(time)} (${minuteFormat.resolvedOptions().timeZone})`
}

/** The minimum width of a value, in columns. A narrower terminal wraps the lines again. */
const minColumns = 20

/**
 * A text to read on a terminal: the count, then one paragraph per application, each generated on demand.
 *
 * @param width The columns of the terminal.
 */
export async function* toScreen(batches: Batches, count: number, width: number): AsyncGenerator<string> {
  const valueWidth = Math.max(width - indent.length, minColumns)
  const style: TextStyle = {
    name: (name) => styleText('bold', name),
    time: (time) => minuteFormat.format(time),
    lines: (value) => value.split('\n').flatMap((line) => wrap(line, valueWidth)),
  }
  yield count === 0 ? 'No applications yet.\n' : `${countOf(count, 'application')}.\n`
  for await (const batch of batches) for (const row of batch) yield `\n${paragraph(row, style)}\n`
}

function paragraph(row: ApplicationRow, style: TextStyle) {
  const fields: [string, string][] = [
    // Without the two names, which are in the first line.
    ...textFields.slice(2).map(({ name, label }): [string, string] => [label, row[name]]),
    ['Paid before', row.paid_solution && paidSolutions[row.paid_solution]],
    ['Custom', row.custom_solution],
    ['Team', row.team_size && teamSizes[row.team_size]],
    ['Reason', row.reason],
    ['Status', row.status === undefined ? '' : statuses[row.status as Status]],
    ['Webhook', deliveryState(row, style)],
  ]
  const lines = fields
    .filter(([, value]) => !isBlank(value))
    .map(
      ([label, value]) =>
        `  ${label.padEnd(labelWidth)} ${style.lines(printable(value)).join(`\n${indent}`)}`,
    )
  const fullName = `${row.first_name} ${row.last_name}`
  const name = onOneLine(isBlank(fullName) ? row.email : fullName)
  return [`${style.name(name)}, ${style.time(row.created_at)}`, `  ${row.id}`, ...lines].join('\n')
}

function deliveryState(
  { delivered_at, next_attempt_at, attempts, last_status }: ApplicationRow,
  { time }: TextStyle,
) {
  if (attempts === null) return 'not queued'
  if (delivered_at) return `delivered ${time(delivered_at)}`
  const tries = countOf(attempts, 'try', 'tries')
  const last = attempts > 0 ? `, last response ${last_status ?? 'none'}` : ''
  if (!next_attempt_at) return `given up after ${tries}${last}`
  return attempts === 0 ? 'waiting' : `${tries}, next ${time(next_attempt_at)}${last}`
}

/** Characters that change the direction of writing, with which an applicant could make a line look different. */
const directionMarks = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text without characters that control a terminal, and with the terminal's line ends. */
function printable(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', ' ')
    .replace(control, '\ufffd')
    .replace(directionMarks, '\ufffd')
}

/** Printable text on one line, so that a stranger's text cannot forge another line. */
export function onOneLine(text: string): string {
  return printable(text).replaceAll('\n', ' ')
}

function escapeSequence(character: string) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
