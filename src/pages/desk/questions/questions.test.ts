import { expect, test } from 'vitest'

import type { Questions } from '../../../client/desk/questions.ts'
import {
  answerWords,
  argumentsOf,
  dayAfter,
  draftOf,
  erasureSentence,
  hasPrivate,
  moved,
  withQuestions,
} from './questions.ts'

const stored: Questions = {
  edition: 1,
  version: 3,
  until: null,
  closes_on: '2027-03-12',
  private_days: 45,
  erased_on: '2027-04-29',
  due: 0,
  questions: [
    {
      id: 'a',
      kind: 'choice',
      text: 'When do you arrive?',
      choices: ['Thursday', 'Friday'],
      is_required: true,
      is_private: false,
      answers: 2,
    },
    {
      id: 'b',
      kind: 'short',
      text: 'Whom do we call?',
      choices: [],
      is_required: false,
      is_private: true,
      answers: 1,
    },
    {
      id: 'c',
      kind: 'yes-no',
      text: 'By car?',
      choices: [],
      is_required: false,
      is_private: false,
      answers: 0,
    },
  ],
}
const draft = draftOf(stored)

test('a draft that nobody changed saves the stored questions', () => {
  const saved = argumentsOf(draft, 3)
  expect(saved).toMatchObject({ version: 3, until: null, private_days: 45 })
  expect(saved.questions.map((question, index) => ({ ...stored.questions[index], ...question }))).toEqual(
    stored.questions,
  )
})

test('texts are saved without spaces around them, and options without blank lines', () => {
  const [first, second] = draft.questions
  if (!first || !second) throw new Error('The draft has three questions.')
  const changed = {
    ...draft,
    until: '2027-03-01',
    questions: [
      { ...first, text: ' When? ', options: '\n Thursday \n\nFriday\n' },
      { ...second, options: 'left over from another kind' },
    ],
  }
  expect(argumentsOf(changed, 3)).toMatchObject({
    until: '2027-03-01',
    questions: [
      { id: 'a', text: 'When?', choices: ['Thursday', 'Friday'] },
      { id: 'b', choices: [] },
    ],
  })
})

test('the first private question fills in the days after which private answers are erased; removing the last clears them', () => {
  const without = withQuestions(
    draft,
    draft.questions.filter(({ id }) => id !== 'b'),
  )
  expect(hasPrivate(without)).toBe(false)
  expect(without.days).toBe('')
  expect(argumentsOf({ ...without, days: '45' }, 3).private_days).toBeNull()
  expect(withQuestions(without, draft.questions).days).toBe('30')
  expect(withQuestions({ ...draft, days: '' }, draft.questions).days).toBe('')
})

test('a question moves up or down', () => {
  const ids = (by: 1 | -1) => moved(draft.questions, 1, by).map(({ id }) => id)
  expect(ids(-1)).toEqual(['b', 'a', 'c'])
  expect(ids(1)).toEqual(['a', 'c', 'b'])
})

test('a sentence says how many answers are erased if the draft is saved', () => {
  const without = (...ids: string[]) =>
    erasureSentence(
      { ...draft, questions: draft.questions.filter(({ id }) => !ids.includes(id)) },
      stored.questions,
    )
  expect(without()).toBe('')
  expect(without('c')).toBe('')
  expect(without('b')).toBe('Saving erases 1 answer to 1 removed question.')
  expect(without('a', 'b', 'c')).toBe('Saving erases 3 answers to 2 removed questions.')
})

test('the day on which private answers are erased is counted over the end of a year and the change of clocks', () => {
  expect(dayAfter('2026-12-31', 1)).toBe('2027-01-01')
  expect(dayAfter('2027-03-15', 30)).toBe('2027-04-14')
})

test('yes and no have labels, and other answers stay as they were given', () => {
  expect(answerWords({ kind: 'yes-no' }, 'yes')).toBe('Yes')
  expect(answerWords({ kind: 'yes-no' }, 'no')).toBe('No')
  expect(answerWords({ kind: 'yes-no' }, '')).toBe('')
  expect(answerWords({ kind: 'short' }, 'yes')).toBe('yes')
})
