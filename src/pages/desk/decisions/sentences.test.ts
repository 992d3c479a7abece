import { expect, test } from 'vitest'

import type { Status } from '../../../application/statuses.ts'
import type { DecisionAct, Decision, Refusal } from '../data/decision-state.ts'
import { groupAlike, sentenceOfRefusal } from './refusals.ts'
import { placesWords, progressOf } from './sentences.ts'
import { countsOf, outcomeOf } from '../data/decision-sentences.ts'

const application = (id: string, status: Status = 'new') => ({ id, name: `Person ${id}`, status, version: 1 })
const decision = (id: string, status: Status = 'new', wanted: Status = 'accepted', isUndo = false) => ({
  application: application(id, status),
  wanted,
  baseVersion: 1,
  isUndo,
})
const saved = (...args: Parameters<typeof decision>): Decision => ({
  ...decision(...args),
  state: 'saved',
  version: 2,
  stopped: 0,
})
const withLetter = (decided: Decision): Decision => ({
  ...decided,
  ...(decided.state === 'saved' && { stopped: 1 }),
})
const stopped = (id: string): Decision => ({ ...decision(id), state: 'stopped' })
const refusal = (
  id: string,
  reason: Refusal['reason'],
  status: Status = 'declined',
  wanted: Status = 'accepted',
) => ({ application: application(id, status), wanted, isUndo: false, reason })
const refused = (id: string, status: Status): Decision => ({
  ...decision(id),
  state: 'refused',
  refusal: refusal(id, { kind: 'stale', author: null, at: null }, status),
})
const noResponse = (sent: Status | null) =>
  ({ kind: 'failed', message: 'No response.', isUncertain: true, sent }) as const
const undoneByOthers = (id: string): Decision => ({
  ...decision(id, 'accepted', 'new', true),
  state: 'refused',
  refusal: refusal(id, { kind: 'stale', author: null, at: null }, 'new', 'new'),
})
const act = (...decisions: Decision[]): DecisionAct =>
  new Map(decisions.map((each) => [each.application.id, each]))

test.each<[string, DecisionAct]>([
  ['Person 1: Accepted', act(saved('1'))],
  ['Person 1: Accepted already', act(refused('1', 'accepted'))],
  ['Person 1: not saved', act(refused('1', 'declined'))],
  [
    'Person 1: not confirmed',
    act({
      ...decision('1'),
      state: 'refused',
      refusal: refusal('1', noResponse('accepted')),
    }),
  ],
  // Without a response, the status is unknown, whatever it was before.
  [
    'Person 1: not sent',
    act({
      ...decision('1', 'accepted', 'new', true),
      state: 'refused',
      refusal: refusal('1', noResponse('accepted'), 'new', 'new'),
    }),
  ],
  [
    'Person 1: not sent',
    act({ ...decision('1'), state: 'refused', refusal: refusal('1', noResponse(null)) }),
  ],
  ['2 applications: Accepted', act(saved('1'), saved('2'))],
  ['2 applications: Accepted', act(saved('1'), refused('2', 'accepted'))],
  [
    '3 applications: Accepted (before: 2 New, 1 Waitlisted); 1 not saved',
    act(saved('1', 'waitlisted'), saved('2'), saved('3'), refused('4', 'declined')),
  ],
  ['2 not saved', act(refused('1', 'declined'), refused('2', 'declined'))],
  ['Person 1: Accepted; stopped, 2 not changed', act(saved('1'), stopped('2'), stopped('3'))],
  ['Person 1: Accepted; 1 letter stopped', act(withLetter(saved('1', 'declined')))],
  [
    '3 applications: Accepted; 2 letters stopped',
    act(withLetter(saved('1')), saved('2'), withLetter(saved('3'))),
  ],
  ['Person 1: Accepted; 1 letter stopped; stopped, 1 not changed', act(withLetter(saved('1')), stopped('2'))],
  ['Undone: Person 1 is New again; 1 letter stopped', act(withLetter(saved('1', 'accepted', 'new', true)))],
  // Undoing does not mention the former statuses.
  ['Undone: Person 1 is New again', act(saved('1', 'accepted', 'new', true))],
  [
    'Undone: 2 applications are New again',
    act(saved('1', 'accepted', 'new', true), saved('2', 'declined', 'new', true)),
  ],
  [
    'Undone: 2 applications are as they were before',
    act(saved('1', 'accepted', 'new', true), saved('2', 'accepted', 'waitlisted', true)),
  ],
  ['Person 1: New already', act(undoneByOthers('1'))],
  [
    '2 applications: as they were before',
    act(undoneByOthers('1'), saved('2', 'declined', 'waitlisted', true)),
  ],
])('the outcome of an act: %s', (sentence, args) => {
  expect(outcomeOf(args)).toBe(sentence)
})

test('a decision on an erased application is not saved, whatever its status was', () => {
  const gone = refusal('1', { kind: 'gone' }, 'accepted')
  expect(outcomeOf(act({ ...decision('1'), state: 'refused', refusal: gone }))).toBe('Person 1: not saved')
})

test('progress is announced at each quarter', () => {
  const sentences = [0, 200, 300, 400, 900].map((done) => progressOf({ done, count: 1_000 }))
  expect(sentences).toEqual(['', '', '300 of 1,000 saved', '300 of 1,000 saved', '800 of 1,000 saved'])
})

test('the counts of statuses begin with the most frequent status', () => {
  expect(countsOf(['waitlisted', 'new', 'new'])).toEqual(['2 New', '1 Waitlisted'])
})

test('refusals with the same sentence are grouped', () => {
  const failed = { kind: 'failed', message: 'The disk is full.', isUncertain: false, sent: null } as const
  const bob = { kind: 'stale', author: 'bob@example.org', at: '2026-11-22T10:00:00Z' } as const
  const groups = groupAlike([
    refusal('1', failed, 'new'),
    refusal('2', bob, 'declined'),
    refusal('3', failed, 'waitlisted'),
    refusal('4', bob, 'waitlisted'),
    refusal('5', bob, 'declined', 'shortlisted'),
    refusal('6', bob, 'declined'),
    refusal('7', { kind: 'told' }),
    refusal('8', { kind: 'told' }, 'waitlisted'),
  ])
  const ids = groups.map((group) => group.map((each) => each.application.id).join())
  expect(ids).toEqual(['1,3', '2,6', '4', '5', '7', '8'])
})

test.each<[string, Refusal, number]>([
  [
    'Person 1: “Accepted” was not saved. The disk is full.',
    refusal('1', { kind: 'failed', message: 'The disk is full.', isUncertain: false, sent: null }),
    0,
  ],
  ['Person 1: “Accepted” was not confirmed. No response.', refusal('1', noResponse('accepted')), 0],
  ['Person 1: “Accepted” was not sent. No response.', refusal('1', noResponse(null)), 0],
  [
    'Person 1: “Accepted” was not confirmed, and “New” was not sent. No response.',
    refusal('1', noResponse('accepted'), 'new', 'new'),
    0,
  ],
  [
    'Person 1: “Accepted” was not saved. The application was erased meanwhile.',
    refusal('1', { kind: 'gone' }),
    0,
  ],
  ['Person 1: “Accepted” was not saved. The applicant withdrew.', refusal('1', { kind: 'withdrawn' }), 0],
  [
    'Person 1 and 2 others: “Accepted” was not saved. The applicants withdrew.',
    refusal('1', { kind: 'withdrawn' }),
    2,
  ],
  [
    'Person 1 and 1 other: “Accepted” was not saved. The applications were erased meanwhile.',
    refusal('1', { kind: 'gone' }),
    1,
  ],
  [
    'Not undone for Person 1: a letter saying “Declined” has already been sent.',
    refusal('1', { kind: 'told' }),
    0,
  ],
  [
    'Not undone for Person 1 and 2 others: letters saying “Declined” have already been sent.',
    refusal('1', { kind: 'told' }),
    2,
  ],
  [
    'Person 1: “Accepted” was not saved. It changed meanwhile: Declined.',
    refusal('1', { kind: 'stale', author: null, at: null }),
    0,
  ],
  [
    'Person 1 and 1 other: “Accepted” was not saved. They changed meanwhile: Declined.',
    refusal('1', { kind: 'stale', author: null, at: null }),
    1,
  ],
])('%s', (sentence, args, others) => {
  expect(sentenceOfRefusal(args, others)).toBe(sentence)
})

test('a conflict names the other organiser and the moment', () => {
  const bob = { kind: 'stale', author: 'bob@example.org', at: '2026-11-22T10:00:00Z' } as const
  const pattern =
    /^Person 1: “Accepted” was not saved\. bob@example\.org set it to Declined meanwhile \(.*22.*\)\.$/
  expect(sentenceOfRefusal(refusal('1', bob), 0)).toMatch(pattern)
  expect(sentenceOfRefusal(refusal('1', bob), 1)).toContain('bob@example.org set them to Declined meanwhile')
})

test('places are counted in words, with a warning from the last two on', () => {
  expect(placesWords({ accepted: 12, places: null })).toBeNull()
  const words = (accepted: number) => Object.values(placesWords({ accepted, places: 1040 }) ?? {})
  expect(words(1037)).toEqual(['1,037 of 1,040', '', false])
  expect(words(1038)).toEqual(['1,038 of 1,040', ', 2 left', true])
  expect(words(1040)).toEqual(['1,040 of 1,040', ', 0 left', true])
  expect(words(1043)).toEqual(['1,043 of 1,040', ', 3 too many', true])
})
