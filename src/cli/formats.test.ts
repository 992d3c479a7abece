import { expect, test } from 'vitest'

import { anApplication } from '../../testing/form.ts'
import type { StoredApplication } from '../server/database/applications.ts'
import { toCsv, toScreen, toText } from './formats.ts'

const stored = (changes: Parameters<typeof anApplication>[0]): StoredApplication => ({
  ...anApplication(changes),
  id: '00000000-0000-4000-8000-000000000000',
  created_at: new Date(0),
  attempts: 0,
  next_attempt_at: new Date(0),
  delivered_at: null,
  last_status: null,
})

async function* batches(...rows: StoredApplication[]) {
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
])('what a spreadsheet would take for a formula is text: %j', async (given, expected) => {
  expect((await csvOf(given)).replaceAll('"', '')).toContain(`,${expected},`)
})

test.each(['+49 (30) 123-4', '-1', 'a; b = c', 'a-b', 'Why:\n- one\n- two', 'a;+49 30 1;b', '\ttab'])(
  'what none would is left as it is: %j',
  async (given) => {
    expect((await csvOf(given)).replaceAll('"', '')).toContain(`,${given},`)
  },
)

test('beside the codes stand their words', async () => {
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

test('signs that turn the direction of writing do not reach the terminal', async () => {
  let text = ''
  const turned = stored({ first_name: '\u202eAda', reason: '\u2066x\u061c\u200fy\u2029z' })
  for await (const part of toText(batches(turned))) text += part
  expect(text).toContain('Ada')
  expect(text).not.toMatch(/[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
})

test('a terminal that is too narrow to wrap values well still shows twenty columns of them', async () => {
  let text = ''
  const long = stored({ reason: 'I have not been away from a screen for longer than I remember.' })
  for await (const part of toScreen(batches(long), 1, 24)) text += part
  expect(text).toContain(`  Reason        I have not been away
                from a screen for
                longer than I
                remember.
`)
})
