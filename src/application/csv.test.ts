import { expect, test } from 'vitest'

import { csvHeader, csvLines, tableColumns, type TableRow } from './csv.ts'

const row: TableRow = {
  id: '00000000-0000-4000-8000-000000000000',
  created_at: new Date('2026-11-22T10:03:04.567Z'),
  first_name: 'Ada',
  phone: '+44 (20) 7946 0958',
  paid_solution: 'travel',
  team_size: '',
  consent: true,
  status: 'accepted',
}

test('the columns are those that are asked for, in that order, with the words beside the codes', () => {
  const columns = ['id', 'created_at', 'paid_solution', 'team_size', 'consent', 'status'] as const
  expect(csvHeader(columns) + csvLines([row, row], columns)).toBe(
    `id,created_at,paid_solution,paid_solution_label,team_size,team_size_label,consent,status
${row.id},2026-11-22T10:03:04.567Z,travel,"Yes, travel related",,,true,accepted
${row.id},2026-11-22T10:03:04.567Z,travel,"Yes, travel related",,,true,accepted
`.replaceAll('\n', '\r\n'),
  )
})

test.each([
  ['a,b', '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ['"', '""""'],
  ['a\nb', '"a\nb"'],
  ['a\rb', '"a\rb"'],
  ['a\r\nb', '"a\r\nb"'],
  [' a; b ', ' a; b '],
  ["'a'", "'a'"],
  ['', ''],
  ['$& $1', '$& $1'],
])('only what RFC 4180 has in quotes is in quotes: %j', (given, expected) => {
  expect(csvLines([{ ...row, reason: given }], ['reason'])).toBe(`${expected}\r\n`)
})

test.each([
  ['Why:\n- rest\n- friends', 'Why:\n- rest\n- friends'],
  ['- rest\n- friends', "'- rest\n- friends"],
  ['- rest', "'- rest"],
  ['a;- rest', "a;'- rest"],
  ['a\t- rest', "a\t'- rest"],
  ['Why:\n-rest', "Why:\n'-rest"],
])(
  'a dash and a blank begin a line of a list after a line, and a formula anywhere else: %j',
  (given, expected) => {
    const cell = expected.includes('\n') ? `"${expected}"` : expected
    expect(csvLines([{ ...row, reason: given }], ['reason'])).toBe(`${cell}\r\n`)
  },
)

test('what is not there is blank, and what a program would obey is not written', () => {
  const columns = ['email', 'first_name', 'phone'] as const
  expect(csvLines([{ ...row, first_name: '\u001b[31mEve\u0000' }], columns)).toBe(
    ',\ufffd[31mEve\ufffd,+44 (20) 7946 0958\r\n',
  )
})

test('of no rows the table is its header', () => {
  expect(csvHeader(tableColumns) + csvLines([], tableColumns)).toMatch(
    /^id,created_at,.*,consent,status\r\n$/,
  )
})
