import { expect, test } from 'vitest'

import { readCsv } from '../../../../test/support/csv.ts'
import type { Question } from '../../../application/questions.ts'
import type { Guest } from '../../../client/desk/questions.ts'
import {
  chosenOf,
  columnsOf,
  guestsFile,
  isReadBlind,
  openCount,
  openQuestions,
  sorted,
  sortedByAnswer,
  totalsOf,
} from './guests.ts'

const question = (id: string, changes: Partial<Question> = {}): Question => ({
  id,
  kind: 'short',
  text: `Question ${id}`,
  choices: [],
  is_required: false,
  is_private: false,
  ...changes,
})
const questions = [
  question('arrival', { is_required: true }),
  question('car', { kind: 'yes-no' }),
  question('call', { is_required: true, is_private: true }),
]
const guest = (id: string, first_name: string, last_name: string, answers = {}): Guest => ({
  id,
  first_name,
  last_name,
  email: `${id}@example.com`,
  phone: '+44 20 7946 0100',
  company: '=Engines',
  answers,
})
const ids = (columns: readonly { id: string }[]) => columns.map(({ id }) => id)

test('the columns are contacts and questions, and only questions that are not private are chosen at first', () => {
  const columns = columnsOf(questions, false)
  expect(ids(columns)).toEqual(['company', 'email', 'phone', 'arrival', 'car', 'call'])
  expect(ids(chosenOf(columns, {}))).toEqual(['arrival', 'car'])
  expect(ids(chosenOf(columns, { phone: true, arrival: false, call: true }))).toEqual([
    'phone',
    'car',
    'call',
  ])
})

test('blind readers have neither contacts nor private questions to choose', () => {
  const columns = columnsOf(questions, true)
  expect(ids(columns)).toEqual(['arrival', 'car'])
  expect(ids(chosenOf(columns, { call: true, email: true }))).toEqual(['arrival', 'car'])
  expect(isReadBlind([guest('1', 'Ada', 'Lovelace')])).toBe(false)
  expect(isReadBlind([guest('1', 'Ada', 'Lovelace'), { id: '2', answers: {} }])).toBe(true)
})

test('guests are sorted by last name, then first name, without regard to accents and capitals', () => {
  const guests = [
    guest('1', 'Émile', 'Zola'),
    guest('2', 'Ada', 'éluard'),
    guest('3', 'Zoë', 'Eluard'),
    guest('4', 'Alan', 'Turing'),
  ]
  expect(sorted(guests).map(({ id }) => id)).toEqual(['2', '3', '4', '1'])
  expect(
    sorted([
      { id: 'b', answers: {} },
      { id: 'a', answers: {} },
    ]).map(({ id }) => id),
  ).toEqual(['a', 'b'])
})

const answering = (...answers: (string | undefined)[]) =>
  answers.map((answer, index) =>
    guest(String(index + 1), 'Guest', String(index), answer === undefined ? {} : { a: answer }),
  )

test('guests are in the order of the options, and those without an answer come last', () => {
  const choice = question('a', { kind: 'choice', choices: ['Thursday', 'Friday'] })
  const guests = answering(undefined, 'Friday', 'Saturday', 'Thursday', 'Friday')
  expect(ids(sortedByAnswer(guests, choice))).toEqual(['4', '2', '5', '3', '1'])
  expect(ids(sortedByAnswer(answering('no', undefined, 'yes'), question('a', { kind: 'yes-no' })))).toEqual([
    '3',
    '1',
    '2',
  ])
})

test('guests are in the order of the moments that their own words name', () => {
  const guests = answering('Saturday, 9:00', 'No idea', undefined, 'Friday 18:30', 'Thursday night', '4 pm')
  expect(ids(sortedByAnswer(guests, question('a'), '2027-03-12'))).toEqual(['5', '6', '4', '1', '2', '3'])
  expect(ids(sortedByAnswer(answering('Room 10', 'room 9'), question('a'), null))).toEqual(['2', '1'])
})

test('the totals of a question count each option in its order', () => {
  const choice = question('a', { kind: 'choice', choices: ['By train', 'By car', 'On foot'] })
  const guests = answering('By car', 'By train', undefined, 'By train', undefined)
  expect(totalsOf(choice, guests)).toEqual({
    answers: [
      { answer: 'By train', count: 2 },
      { answer: 'By car', count: 1 },
    ],
    others: 0,
    unanswered: 2,
  })
  expect(totalsOf(question('a', { kind: 'yes-no' }), answering('no', 'yes')).answers).toEqual([
    { answer: 'Yes', count: 1 },
    { answer: 'No', count: 1 },
  ])
})

test('the totals of a question that is answered in own words count equal words, and how many others there are', () => {
  const guests = answering(
    'Nothing',
    'Vegan',
    ' vegan.',
    'Vegan!',
    'nothing',
    'No nuts',
    'No fish',
    undefined,
  )
  expect(totalsOf(question('a'), guests)).toEqual({
    answers: [
      { answer: 'Vegan', count: 3 },
      { answer: 'Nothing', count: 2 },
    ],
    others: 2,
    unanswered: 1,
  })
})

test('open questions are the required ones without an answer; private ones are not counted for blind readers', () => {
  const answered = guest('1', 'Ada', 'Lovelace', { arrival: 'Friday' })
  expect(openCount(answered, questions, false)).toBe(1)
  expect(openCount({ ...answered, answers: { arrival: 'Friday', call: 'Mary' } }, questions, false)).toBe(0)
  expect(openCount(answered, questions, true)).toBe(0)
  expect(openCount({ ...answered, answers: {} }, questions, true)).toBe(1)
})

test('no question is open after the last day for answers', () => {
  const asked = { questions: questions.map((each) => ({ ...each, answers: 0 })), closes_on: '2027-03-12' }
  const openOn = (today: string | undefined, closes_on: string | null = asked.closes_on) =>
    openQuestions({ ...asked, closes_on }, today)
  expect(openOn('2027-03-12')).toEqual(asked.questions)
  expect(openOn('2027-03-13')).toEqual([])
  expect(openOn('2027-03-13', null)).toEqual(asked.questions)
  expect(openOn(undefined)).toEqual([])
})

test('the file has the names and the chosen columns, and no cell begins a formula', async () => {
  const columns = chosenOf(columnsOf(questions, false), { company: true, arrival: true, call: false })
  const file = guestsFile(
    [guest('1', 'Ada', 'Lovelace', { arrival: 'Friday,\nlate', car: 'yes', call: 'Mary' })],
    columns,
  )
  expect(file.type).toBe('text/csv')
  expect(new Uint8Array(await file.slice(0, 3).arrayBuffer())).toEqual(new Uint8Array([0xef, 0xbb, 0xbf]))
  const { header, rows } = readCsv(await file.text())
  expect(header).toEqual(['Name', 'Company', 'Question arrival', 'Question car'])
  expect(rows).toEqual([
    {
      Name: 'Ada Lovelace',
      Company: "'=Engines",
      'Question arrival': 'Friday,\nlate',
      'Question car': 'Yes',
    },
  ])
})
