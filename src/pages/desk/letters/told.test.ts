import { expect, test } from 'vitest'

import { statuses, type Status } from '../../../application/statuses.ts'
import type { LetterState } from '../../../client/desk/letters.ts'
import { isOfDecision, letterAbout, toldWords } from './told.ts'

const now = new Date(2026, 10, 20, 18)
const sentAt = new Date(2026, 10, 12, 9, 30).toISOString()

const letterOf = (occasion: string, change: Partial<LetterState> = {}): LetterState => ({
  application: 'a',
  occasion,
  way: 'mail',
  state: 'sent',
  otherwise: null,
  sent_at: change.state === undefined || change.state === 'sent' ? sentAt : null,
  ...change,
})
const words = (status: Status, ...letters: LetterState[]) =>
  toldWords(status, letterAbout(status, letters), now)

const states: [LetterState['state'], mail: string, automation: string][] = [
  ['draft', 'Draft waits', 'Draft waits'],
  ['waiting', 'On the way', 'On the way'],
  ['sending', 'On the way', 'On the way'],
  ['sent', 'Told on 12 Nov', 'Automation told on 12 Nov'],
  ['refused', 'Letter refused', 'Decision refused'],
  ['given up', 'Not delivered', 'Not delivered'],
  // A stopped letter is a draft again, unless somebody removed the draft.
  ['withdrawn', 'Not told yet', 'Not told yet'],
]

test.each(
  states.flatMap((state) => (Object.keys(statuses) as Status[]).map((status) => [...state, status] as const)),
)('a letter with the state %j: %s, or %s, also if the status is %s', (state, mail, automation, status) => {
  const isAnnounced = isOfDecision(status)
  expect(words(status, letterOf(status, { state }))).toBe(isAnnounced ? mail : '')
  expect(words(status, letterOf(status, { state, way: 'automation' }))).toBe(isAnnounced ? automation : '')
})

test.each(['accepted', 'waitlisted', 'declined'] as const)(
  'without a letter, and without a letter about it, somebody %s is not told yet',
  (status) => {
    expect(words(status)).toBe('Not told yet')
    expect(words(status, letterOf('Travel'), letterOf('received'))).toBe('Not told yet')
  },
)

test('the words say when the letter was sent, and how somebody was told without our mail server', () => {
  const today = new Date(2026, 10, 20, 14, 3).toISOString()
  const lastYear = new Date(2025, 10, 12).toISOString()
  expect(words('declined', letterOf('declined', { sent_at: today }))).toBe('Told at 14:03')
  expect(words('declined', letterOf('declined', { sent_at: lastYear }))).toBe('Told on 12 Nov 2025')
  expect(words('declined', letterOf('declined', { otherwise: 'by hand' }))).toBe('Told on 12 Nov')
  expect(words('declined', letterOf('declined', { otherwise: 'told' }))).toBe('Contacted another way')
  expect(words('declined', letterOf('declined', { sent_at: null }))).toBe('Told')
})

test('the last email counts, and a letter to the automation only without one', () => {
  const refused = letterOf('accepted', { state: 'refused' })
  const toAutomation = letterOf('accepted', { way: 'automation', state: 'waiting' })
  expect(words('accepted', refused, letterOf('accepted'))).toBe('Told on 12 Nov')
  expect(words('accepted', letterOf('accepted'), refused)).toBe('Letter refused')
  expect(words('accepted', letterOf('accepted'), toAutomation)).toBe('Told on 12 Nov')
})

test('somebody who was told another decision since is not told yet', () => {
  const draft = letterOf('accepted', { state: 'draft' })
  const toldBoth = [letterOf('accepted'), letterOf('declined')]
  expect(words('declined', ...toldBoth)).toBe('Told on 12 Nov')
  expect(words('accepted', ...toldBoth)).toBe('Not told yet')
  expect(words('accepted', ...toldBoth, draft)).toBe('Draft waits')
  // A second draft of the same letter takes nothing back.
  expect(words('accepted', letterOf('accepted'), draft)).toBe('Told on 12 Nov')
})
