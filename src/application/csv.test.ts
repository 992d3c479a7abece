import { expect, test } from 'vitest'

import {
  csvHeader,
  csvLines,
  csvTextLines,
  operatorColumns,
  spreadsheetLines,
  tableColumns,
  type TableRow,
} from './csv.ts'

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

test('the columns are the requested ones in the requested order, with labels beside the codes', () => {
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
])('only values that RFC 4180 wants in quotes are in quotes: %j', (given, expected) => {
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
  'a dash and a space begin an item of a list after a line end, and a formula anywhere else: %j',
  (given, expected) => {
    const cell = expected.includes('\n') ? `"${expected}"` : expected
    expect(csvLines([{ ...row, reason: given }], ['reason'])).toBe(`${cell}\r\n`)
  },
)

test.each([
  ['+491511234567', "'+491511234567"],
  ['0151 1234567', "'0151 1234567"],
  ['0151.1234567', "'0151.1234567"],
  ['００４９１５１', "'００４９１５１"],
  ['4915112345678', "'4915112345678"],
  ['1 234 567 890 123', "'1 234 567 890 123"],
  ['12345678901', '12345678901'],
  ['12E4', "'12E4"],
  ['1.5e-3', "'1.5e-3"],
  ['12e10', "'12e10"],
  ['12 Elm Street', '12 Elm Street'],
  ['+44 (20) 7946 0958', '+44 (20) 7946 0958'],
  ['0', '0'],
  ['0.5', '0.5'],
  ['007 Bond Street', '007 Bond Street'],
  ['10+', '10+'],
])('a spreadsheet of people keeps a number as it was typed: %j', (given, expected) => {
  expect(spreadsheetLines([{ ...row, phone: given }], ['phone', 'created_at'])).toBe(
    `${expected},2026-11-22T10:03:04.567Z\r\n`,
  )
  expect(csvTextLines([[given]])).toBe(`${expected}\r\n`)
  expect(csvLines([{ ...row, phone: given }], ['phone'])).toBe(`${given}\r\n`)
})

test('a missing value is blank, and control characters are not written', () => {
  const columns = ['email', 'first_name', 'phone'] as const
  expect(csvLines([{ ...row, first_name: '\u001b[31mEve\u0000' }], columns)).toBe(
    ',\ufffd[31mEve\ufffd,+44 (20) 7946 0958\r\n',
  )
})

test('a row has the decision, notes and letters; each note and each letter begins a line, and is no formula', () => {
  const at = '2026-11-22T12:03:04.567891+02:00'
  const moment = '2026-11-22T10:03:04.567Z'
  const letter = { occasion: 'accepted', way: 'mail', state: 'sent', otherwise: null, at } as const
  const decided: TableRow = {
    ...row,
    decided_by: 'ada@example.org',
    decided_at: at,
    notes: [
      { at, author: 'ada@example.org', note: 'A strong one.\n=1+1' },
      { at, author: 'bob@example.org', note: 'Yes.' },
    ],
    letters: [
      letter,
      { ...letter, way: 'automation', state: 'given up' },
      { ...letter, occasion: '=Travel', otherwise: 'told' },
      { ...letter, occasion: '', otherwise: 'by hand' },
    ],
  }
  const columns = ['status', 'decided_by', 'decided_at', 'notes', 'letters'] as const
  const notes = `${moment} ada@example.org: A strong one.\n'=1+1\n${moment} bob@example.org: Yes.`
  const letters = [
    `accepted: sent ${moment}`,
    `accepted (automation): given up ${moment}`,
    `'=Travel: told otherwise ${moment}`,
    `to one person: sent by hand ${moment}`,
  ].join('\n')
  expect(csvLines([decided], columns)).toBe(`accepted,ada@example.org,${moment},"${notes}","${letters}"\r\n`)
  expect(csvLines([{ ...row, decided_by: null, decided_at: null, notes: [] }], columns)).toBe(
    'accepted,,,,\r\n',
  )
})

test('each question begins a line with its answer, and no answer is a formula', () => {
  const questions = [
    { question: 'Arrival?', answer: 'Friday' },
    { question: 'More?', answer: 'A cello.\n=1+1' },
  ]
  expect(csvLines([{ ...row, questions }, row], ['questions'])).toBe(
    `"Arrival?: Friday\nMore?: A cello.\n'=1+1"\r\n\r\n`,
  )
})

test('each mark begins a line, with its reason and whether its author had seen others', () => {
  const marks: TableRow['marks'] = [
    { author: 'ada@example.org', mark: 'yes', why: '', after_seeing: false },
    { author: 'bob@example.org', mark: 'no', why: 'Too busy.', after_seeing: true },
  ]
  expect(csvLines([{ ...row, marks }, row], ['marks'])).toBe(
    '"ada@example.org: yes\nbob@example.org: no (after seeing), Too busy."\r\n\r\n',
  )
})

test('the operator’s table has the number of the retreat, and no marks', () => {
  expect(csvLines([{ ...row, edition: 2 }], ['edition'])).toBe('2\r\n')
  expect(csvHeader(operatorColumns).split(',')).not.toContain('marks')
})

test('a table of texts has the same rules for quotes, formulas and control characters', () => {
  expect(
    csvTextLines([
      ['Name', '=1+1'],
      ['Ada; Countess', 'a "b"\u0000'],
    ]),
  ).toBe(`Name,'=1+1\r\nAda; Countess,"a ""b""\ufffd"\r\n`)
})

test('the times of an RSVP and of a withdrawal are formatted like every other time', () => {
  const columns = ['answer', 'answered_at'] as const
  const answered = { ...row, answer: 'coming', answered_at: '2026-11-22T12:03:04+02:00' } as TableRow
  expect(csvLines([answered, row], columns)).toBe('coming,2026-11-22T10:03:04.000Z\r\n,\r\n')
  const withdrawn: TableRow = { ...row, withdrawn_at: '2026-11-22T12:03:04+02:00' }
  expect(csvLines([withdrawn, row], ['withdrawn_at'])).toBe('2026-11-22T10:03:04.000Z\r\n\r\n')
})

test('a table without rows is its header', () => {
  expect(csvHeader(tableColumns) + csvLines([], tableColumns)).toMatch(/^id,created_at,[^\r\n]*\r\n$/)
})
