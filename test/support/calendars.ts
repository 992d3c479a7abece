import type { Download } from 'playwright-core'

import type { Retreat } from '../../src/application/calendar.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import type { ReceivedMail } from './mail-server.ts'

/** A retreat of four days. */
export const aRetreat = (changes: Partial<Retreat> = {}): Retreat => ({
  uid: '6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11',
  sequence: 2,
  name: '',
  starts_on: '2027-03-12',
  ends_on: '2027-03-15',
  venue: 'Hof Sonnenau, Bernau am Chiemsee',
  ...changes,
})

const injected = 'BEGIN:VALARM\r\nACTION:EMAIL\r\nATTENDEE:mailto:eve@example.com\r\nEND:VALARM'

/**
 * Names and venues that become lines, parameters or other properties of a calendar's file if a program writes them unescaped, and
 * long ones that must be folded between characters.
 */
export const hostileTexts: readonly string[] = [
  'a, b; c: d',
  'C:\\new\\north\\;,',
  "\"Hof\" ^n ^' 'x'",
  '\\',
  '\\n\\N\\,\\;',
  `x\r\n${injected}`,
  `x\n${injected}`,
  `x\r${injected}`,
  `x\u2028${injected}\u0085${injected}\u2029`,
  'END:VEVENT\r\nEND:VCALENDAR\r\n',
  '\ttabs\tand\u0000 controls \u007f\u001b[31m',
  ' leading and trailing ',
  '\ufeffmark',
  '\u202ehcilrevo',
  ';VALUE=URI:https://example.org/?a=b&c=%0D%0A',
  '=0D=0A<script>alert(1)</script>{{answer_link}}',
  'é'.repeat(100),
  '漢'.repeat(66),
  ',;\\'.repeat(60),
  // A line is folded after 75 octets. With these lengths, the fold is at each of the eleven octets of the emoji in turn.
  ...Array.from({ length: 12 }, (_, index) => 56 + index).map((length) => `${'x'.repeat(length)}👩‍🚀 after`),
  '👩‍🚀'.repeat(18),
]

/** The text that a parser of calendars has to return for this name or venue. */
export const readable = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** The columns of an edition that calendars need. */
interface RetreatColumns {
  starts_on: string | null
  ends_on: string | null
  venue?: string
  calendar_sequence?: number
}

/** Sets the days of the newest edition, and its venue. */
export async function setRetreat(sql: Sql, columns: RetreatColumns): Promise<void> {
  const { starts_on, ends_on, venue = '', calendar_sequence = 1 } = columns
  await sql`
    update private.editions set starts_on = ${starts_on}, ends_on = ${ends_on}, venue = ${venue},
      calendar_sequence = ${calendar_sequence}
    where id = (select max(id) from private.editions)`
}

/** The calendar's file that is attached to an email; undefined if there is none. */
export function calendarIn({ raw }: Pick<ReceivedMail, 'raw'>): string | undefined {
  const [, base64] = /^Content-Type: text\/calendar[^]*?\r\n\r\n([\w+/=\r\n]+)/m.exec(raw) ?? []
  return base64 && Buffer.from(base64, 'base64').toString()
}

/**
 * The content of a file that a page made in the address of its link. Reading the saved file sometimes waits for ever in a headless
 * Chromium that is busy.
 */
export function contentOf(download: Download): string {
  return decodeURIComponent(download.url().replace(/^[^,]*,/, ''))
}
