import { styleText } from 'node:util'
import { expect, test } from 'vitest'

import { anApplication } from '../../test/support/form.ts'
import type { ApplicationRow, StoredApplication } from './queries/applications.ts'
import {
  accountsText,
  localTime,
  onOneLine,
  toCsv,
  toJson,
  toJsonLines,
  toScreen,
  toText,
} from './formats.ts'

const stored = (changes: Parameters<typeof anApplication>[0]): StoredApplication => ({
  ...anApplication(changes),
  id: '00000000-0000-4000-8000-000000000000',
  created_at: new Date(0),
  attempts: 0,
  next_attempt_at: new Date(0),
  delivered_at: null,
  last_status: null,
})

async function* batches(...rows: ApplicationRow[]) {
  yield rows
}

async function csvOf(reason: string) {
  const rows: string[] = []
  for await (const text of toCsv(batches(stored({ reason })))) rows.push(text)
  return rows.join('')
}

test.each([
  ['=1+1', "'=1+1"],
  ['  =1+1', "'  =1+1"],
  ['\u200b=1+1', "'\u200b=1+1"],
  ['\uff1d1+1', "'\uff1d1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['-2+3+cmd|x', "'-2+3+cmd|x"],
  ['a;=HYPERLINK(1)', "a;'=HYPERLINK(1)"],
  ['a;\u200b @x;+b', "a;'\u200b @x;'+b"],
  ['a\t=1', "a\t'=1"],
  ['a\n=1', "a\n'=1"],
  ['a\r\n-1+cmd|x', "a\r\n'-1+cmd|x"],
])('a text that a spreadsheet would read as a formula stays text: %j', async (given, expected) => {
  expect((await csvOf(given)).replaceAll('"', '')).toContain(`,${expected},`)
})

test.each(['+49 (30) 123-4', '-1', 'a; b = c', 'a-b', 'Why:\n- one\n- two', 'a;+49 30 1;b', '\ttab'])(
  'a harmless text is unchanged: %j',
  async (given) => {
    expect((await csvOf(given)).replaceAll('"', '')).toContain(`,${given},`)
  },
)

test('a table has the label of an option beside its code', async () => {
  const rows: string[] = []
  for await (const text of toCsv(
    batches(stored({ paid_solution: 'not', team_size: 'just-me', reason: 'x' })),
  ))
    rows.push(text)
  const [header = '', row = ''] = rows.join('').split('\r\n')
  const columns = header.split(',')
  const read = (name: string) => row.split(',')[columns.indexOf(name)]
  expect(header).toContain(',paid_solution,paid_solution_label,')
  expect([read('paid_solution'), read('paid_solution_label')]).toEqual(['not', 'I have not'])
  expect([read('team_size'), read('team_size_label')]).toEqual(['just-me', 'Just me'])
})

test('characters that change the direction of writing do not reach the terminal', async () => {
  let text = ''
  const withDirectionMarks = stored({ first_name: '\u202eAda', reason: '\u2066x\u061c\u200fy\u2029z' })
  for await (const part of toText(batches(withDirectionMarks))) text += part
  expect(text).toContain('Ada')
  expect(text).not.toMatch(/[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
})

test('on a very narrow terminal, values are still wrapped at twenty columns', async () => {
  let text = ''
  const long = stored({ reason: 'I have not been away from a screen for longer than I remember.' })
  for await (const part of toScreen(batches(long), 1, 24)) text += part
  expect(text).toContain(`  Reason        I have not been away
                from a screen for
                longer than I
                remember.
`)
})

/** Joins the parts of a text. */
async function whole(parts: AsyncIterable<string>) {
  let text = ''
  for await (const part of parts) text += part
  return text
}

const ada = stored({ last_name: 'Lovelace', email: 'ada@example.com' })
const id = '00000000-0000-4000-8000-000000000000'

test('in a text, an application is a paragraph: name, time, id, form answers, status and delivery', async () => {
  expect(await whole(toText(batches({ ...ada, status: 'accepted' }))))
    .toBe(`Ada Lovelace, 1970-01-01T00:00:00.000Z
  ${id}
  Email         ada@example.com
  Phone         +44 (20) 7946 0958
  LinkedIn      in/ada
  Company       Analytical Engines
  Paid before   Yes, travel related
  Team          3-10
  Reason        To think.
                Without a screen.
  Status        Accepted
  Webhook       waiting

1 application.
`)
})

test('a blank form answer has no line, and an answer in own words has one', async () => {
  const blank = stored({ paid_solution: '', team_size: '', custom_solution: 'A cabin' })
  const text = await whole(toText(batches(blank, blank)))
  expect(text).not.toMatch(/Paid before|Team|Status/)
  expect(text).toContain('\n  Custom        A cabin\n')
  expect(text).toMatch(/\n\n2 applications\.\n$/)
  expect(text).toMatch(/\n {2}Webhook {7}waiting\n\nAda Lovelace/)
})

test('on a terminal the number comes first, the name is bold and the time is local', async () => {
  const time = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short' }).format(0)
  const text = await whole(toScreen(batches(ada), 1_000, 80))
  expect(text).toMatch(/^1,000 applications\.\n\n/)
  expect(text).toContain(`${styleText('bold', 'Ada Lovelace')}, ${time}\n  ${id}\n`)
  expect(text).toMatch(/\n {2}Reason {8}To think\.\n {16}Without a screen\.\n/)
  expect(await whole(toScreen(batches(ada), 1, 80))).toMatch(/^1 application\.\n/)
  expect(localTime(new Date(0))).toBe(`${time} (${Intl.DateTimeFormat().resolvedOptions().timeZone})`)
})

test('without applications, a text says that there are none', async () => {
  expect(await whole(toText(batches()))).toBe('No applications yet.\n')
  expect(await whole(toScreen(batches(), 0, 80))).toBe('No applications yet.\n')
})

const later = new Date('2026-11-25T12:00:00Z')

test.each<[Partial<StoredApplication>, string]>([
  [{ attempts: null }, 'not queued'],
  [{ attempts: 0 }, 'waiting'],
  [{ attempts: 3, delivered_at: later }, 'delivered 2026-11-25T12:00:00.000Z'],
  [
    { attempts: 1, next_attempt_at: later, last_status: 500 },
    '1 try, next 2026-11-25T12:00:00.000Z, last response 500',
  ],
  [{ attempts: 2, next_attempt_at: later }, '2 tries, next 2026-11-25T12:00:00.000Z, last response none'],
  [{ attempts: 10, next_attempt_at: null, last_status: 410 }, 'given up after 10 tries, last response 410'],
  [{ attempts: 0, next_attempt_at: null }, 'given up after 0 tries'],
])('the state of a delivery is shown in words: %o', async (delivery, words) => {
  const text = await whole(toText(batches({ ...ada, ...delivery })))
  expect(text).toContain(`\n  Webhook       ${words}\n`)
})

test('in JSON each application is one line with its columns, without terminal control characters', async () => {
  const lines = await whole(toJsonLines(batches(stored({ reason: 'a\u007fb\u0085' }), ada)))
  expect(lines).toContain('"a\\u007fb\\u0085"')
  const [first, second, rest] = lines.split('\n')
  expect(JSON.parse(first ?? '')).toMatchObject({ id, reason: 'a\u007fb\u0085', consent: true })
  expect(Object.keys(JSON.parse(second ?? '') as object)).toEqual(
    'id created_at first_name last_name email phone linkedin company paid_solution custom_solution team_size reason consent'.split(
      ' ',
    ),
  )
  expect(rest).toBe('')
})

test('JSON for people is indented, without terminal control characters', () => {
  expect(toJson({ reason: 'a\u0085b' })).toBe('{\n  "reason": "a\\u0085b"\n}\n')
})

test("an applicant's text cannot forge a line, and terminal control characters are not written", () => {
  expect(onOneLine('one\r\ntwo\rthree\nfour\tfive')).toBe('one two three four five')
  expect(onOneLine('a\u001bb\u202ec')).toBe('a\ufffdb\ufffdc')
})

test('the phrase with the number of accounts is in the singular or plural, and blank without any', () => {
  expect([0, 1, 2].map(accountsText)).toEqual([
    '',
    ' and the account of 1 organiser',
    ' and the accounts of 2 organisers',
  ])
})
