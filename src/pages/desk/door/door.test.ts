import { expect, test } from 'vitest'

import type { Door } from '../../../client/desk/retreat.ts'
import { wordsOf } from '../history/HistoryList.tsx'
import { localTimeOf, momentOf } from '../kit/format.ts'
import { changeFrom, doorSentence, entriesOf, zoneHint } from './door.ts'

const open: Door = {
  version: 3,
  is_open: true,
  closed: false,
  sentence: '',
  closes_at: null,
  closes_after: null,
  opened_at: null,
  received: 0,
}
const at = '2999-03-01T17:00:30+00:00'
const now = Date.parse('2026-12-01T12:00:00Z')
const limited: Door = { ...open, closes_at: at, closes_after: 1200, received: 1199 }

test.each<[Door, string]>([
  [open, 'The door is open.'],
  [{ ...open, closes_at: at }, `The door is open, until ${momentOf(at)}.`],
  [{ ...open, is_open: false }, 'The door is closed. Applicants read: “Applications are closed.”'],
  [
    { ...limited, is_open: false },
    `The door has been closed since ${momentOf(at)}. Applicants read: “Applications are closed.”`,
  ],
  [{ ...open, closes_after: 3, received: 1 }, 'The door is open, for 2 more applications (1 of 3 received).'],
  [limited, `The door is open, until ${momentOf(at)}, for 1 more application (1,199 of 1,200 received).`],
  [
    { ...open, is_open: false, closed: true },
    'The door is closed. Applicants read: “Applications are closed.”',
  ],
  [
    { ...limited, is_open: false, closed: true, sentence: 'Full.' },
    'The door is closed. Applicants read: “Full.”',
  ],
  [
    { ...open, is_open: false, closes_after: 3, received: 3 },
    'The door is closed: it reached its limit of 3 applications. Applicants read: “Applications are closed.”',
  ],
  [
    { ...open, is_open: false, closes_at: at },
    `The door has been closed since ${momentOf(at)}. Applicants read: “Applications are closed.”`,
  ],
])('the state of the door in words: %j', (door, sentence) => {
  expect(doorSentence(door)).toBe(sentence)
})

test('the history shows changes of the door and letters, erasures and blind reading in words', () => {
  const by = { at, author: 'ada@example.org' }
  expect(wordsOf({ ...by, kind: 'door', detail: limited })).toBe(
    `Door open, until ${momentOf(at)}, for 1,200 applications`,
  )
  expect(wordsOf({ ...by, kind: 'door', detail: { ...open, closed: true } })).toBe(
    'Door closed: “Applications are closed.”',
  )
  // Earlier versions stored an infinite time.
  expect(wordsOf({ ...by, kind: 'door', detail: { ...open, closes_at: 'infinity' } })).toBe(
    'Door open, until infinity',
  )
  expect(wordsOf({ ...by, kind: 'erased', detail: { applications: 1 } })).toBe('1 application erased')
  expect(wordsOf({ ...by, kind: 'blind', detail: { on: false } })).toBe('Stopped reading blind')
  const words = (detail: object) => wordsOf({ ...by, kind: 'letters', detail })
  expect(words({ template: 'accepted' })).toBe('Template of letters changed: “accepted”')
  expect(words({ removed: 'Travel' })).toBe('Template of letters removed: “Travel”')
  expect(words({ stopped: true })).toBe('All letters stopped')
  expect(words({ stopped: false })).toBe('Sending resumed')
  expect(words({ reply_to: 'desk@example.org' })).toBe('Replies to letters go to desk@example.org')
  expect(words({ reply_to: '' })).toBe('Replies to letters go to the sender')
  expect(words({ receipts: true })).toBe('Receipts switched on')
  expect(words({ receipts: false })).toBe('Receipts switched off')
})

test('an unchanged closing time is saved with its seconds', () => {
  expect(changeFrom(entriesOf(limited, now), limited)).toEqual({
    version: 3,
    closed: false,
    sentence: '',
    closes_at: at,
    closes_after: 1200,
  })
})

test('the closing time is entered in the local time zone', () => {
  const change = changeFrom(
    { closed: false, sentence: ' Full. ', closesAt: '2999-12-31T18:00', closesAfter: '' },
    open,
  )
  expect(change).toEqual({
    version: 3,
    closed: false,
    sentence: 'Full.',
    closes_at: new Date(2999, 11, 31, 18).toISOString(),
    closes_after: null,
  })
  expect(localTimeOf(change.closes_at ?? '')).toBe('2999-12-31T18:00')
})

test('a door that closed automatically stays closed if only its sentence changes, and opens without its limits', () => {
  const full: Door = { ...limited, closes_at: new Date(now).toISOString(), is_open: false, received: 1200 }
  const entries = entriesOf(full, now)
  expect(changeFrom({ ...entries, sentence: 'Full.' }, full)).toMatchObject({
    closed: true,
    sentence: 'Full.',
  })
  expect(changeFrom({ ...entries, closed: false }, full)).toMatchObject({
    closed: false,
    closes_at: null,
    closes_after: null,
  })
})

test('a door without limits has blank fields, and a changed time is saved', () => {
  expect(entriesOf(open, now)).toEqual({ closed: false, sentence: '', closesAt: '', closesAfter: '' })
  const entries = { ...entriesOf(limited, now), closesAt: '2999-12-31T18:00' }
  expect(changeFrom(entries, limited).closes_at).toBe(new Date(2999, 11, 31, 18).toISOString())
  // The time 0, the start of 1970, is a closing time like any other.
  const first = { ...entriesOf(open, now), closesAt: localTimeOf(0) }
  expect(changeFrom(first, open).closes_at).toBe(new Date(0).toISOString())
})

test('closing keeps a future closing time for the next opening, but removes the limit of applications', () => {
  const change = changeFrom({ ...entriesOf(limited, now), closed: true }, limited)
  expect(change).toMatchObject({ closed: true, closes_at: at, closes_after: null })
  const closed: Door = { ...limited, ...change, is_open: false }
  expect(entriesOf(closed, now)).toMatchObject({ closed: true, closesAt: localTimeOf(at) })
  expect(entriesOf(closed, Date.parse(at))).toMatchObject({ closed: true, closesAt: '' })
})

test('closing the door does not save a newly entered closing time', () => {
  const entries = { ...entriesOf(open, now), closesAt: '2999-12-31T18:00', closed: true }
  expect(changeFrom(entries, open).closes_at).toBeNull()
})

test('the hint at the closing time has the time in the retreat’s time zone, if that is another one', () => {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const ofField = `In your own time zone, ${own.replaceAll('_', ' ')}.`
  for (const [closesAt, zone] of [
    ['', 'Asia/Tokyo'],
    ['2027-02-28T23:59', undefined],
    ['2027-02-28T23:59', own],
  ] as const)
    expect(zoneHint(closesAt, zone)).toBe(ofField)
  const closesAt = localTimeOf('2027-02-28T22:59Z')
  expect(zoneHint(closesAt, 'America/New_York')).toBe(
    `${ofField} That is 28 Feb 2027, 17:59 in the retreat’s, America/New York.`,
  )
})
