import { expect, test, vi } from 'vitest'

import type { Letter } from '../../../client/desk/letters.ts'
import { atTestEnd } from '../../../../test/support/cleanup.ts'
import { momentOf } from '../kit/format.ts'
import {
  asksForRsvp,
  eventsOf,
  failedAddressWords,
  firstDeadlineOf,
  firstWords,
  invitationHint,
  isAfterAcceptance,
  isAmong,
  isBeingSent,
  isEdited,
  isFilledLater,
  isInvitationPlaceholder,
  isNeitherDecisionNorReceipt,
  isSendable,
  isSentByServer,
  kindWords,
  leavingWords,
  mayAskForRsvp,
  nameOfLetter,
  nameOfOccasion,
  noSiteWords,
  overbookedWords,
  partsOf,
  retreatPlaceholders,
  retreatWords,
  returnableLetters,
  siteOfDesk,
  triesOf,
  wasSentBefore,
  wordsOfLetter,
} from './letters.ts'
import { isOfDecision } from './told.ts'

const at = '2026-11-22T10:00:00+00:00'
const mail: Letter = {
  id: '1',
  application: 'a',
  occasion: 'accepted',
  edition: 1,
  way: 'mail',
  state: 'sent',
  subject: 's',
  body: 'b',
  seen: '',
  missing: [],
  unknown: [],
  is_long: false,
  reply_by: null,
  is_edited: false,
  to: null,
  name: null,
  author: 'ada@example.org',
  act: 'x',
  released_at: at,
  due_at: null,
  attempts: 1,
  uncertain: 0,
  sent_at: at,
  withdrawn_at: null,
  withdrawn_by: null,
  answer: '',
  otherwise: null,
}
const toAutomation: Letter = { ...mail, id: '2', way: 'automation' }
const receipt: Letter = { ...mail, id: '3', occasion: 'received', author: null, act: null }
const withdrawn = { state: 'withdrawn', sent_at: null, withdrawn_at: at } as const

test.each<[Letter[], string[]]>([
  [[receipt], ['Receipt sent']],
  [[{ ...receipt, ...withdrawn }], ['Receipt stopped']],
  [[{ ...receipt, state: 'waiting', sent_at: null }], []],
  [
    [mail, toAutomation],
    ['Letter “Accepted” on the way', 'Letter “Accepted” sent', '“Accepted” passed to the automation'],
  ],
  [[toAutomation], ['“Accepted” on the way to the automation', '“Accepted” passed to the automation']],
  [
    [
      { ...mail, ...withdrawn },
      { ...toAutomation, ...withdrawn },
    ],
    ['Letter “Accepted” on the way', 'Letter “Accepted” stopped'],
  ],
  [
    [mail, { ...toAutomation, ...withdrawn }],
    [
      'Letter “Accepted” on the way',
      'Letter “Accepted” sent',
      '“Accepted” not passed to the automation: stopped',
    ],
  ],
])(
  'a decision sent by email and to the automation has one release event, and a receipt has none',
  (letters, words) => {
    expect(eventsOf(letters).map(({ text }) => text)).toEqual(words)
  },
)

test.each<[Partial<Letter>, string]>([
  [
    { state: 'waiting', attempts: 0, due_at: at },
    `“Accepted” will be passed to the automation after ${momentOf(at)}.`,
  ],
  [
    { state: 'waiting', answer: 'HTTP 500' },
    '“Accepted” will be passed to the automation, after 1 try: HTTP 500',
  ],
  [{ state: 'sending' }, '“Accepted” is being passed to the automation.'],
  [{ state: 'refused', answer: 'HTTP 410' }, '“Accepted” was refused by the automation: HTTP 410'],
  [
    { state: 'given up', attempts: 2, answer: 'No response.' },
    '“Accepted” did not reach the automation after 2 tries: No response.',
  ],
  [{ state: 'sent' }, ''],
])('a sentence describes the state of a letter to an automation: %j', (changes, words) => {
  expect(wordsOfLetter({ ...toAutomation, ...changes })).toBe(words)
})

test.each<[Partial<Letter>, string]>([
  [{ state: 'waiting', attempts: 0 }, 'Letter “Accepted” will be sent.'],
  [
    { state: 'waiting', attempts: 2, due_at: at, answer: '421 busy' },
    `Letter “Accepted” will be sent after ${momentOf(at)}, after 2 tries: 421 busy`,
  ],
  [{ state: 'sending' }, 'Letter “Accepted” is being sent.'],
  [{ state: 'refused', answer: '550 no' }, 'Letter “Accepted” was refused by the mail server: 550 no'],
  [{ state: 'refused', answer: 'It came back.' }, 'Letter “Accepted” came back.'],
  [{ state: 'given up', attempts: 1 }, 'Letter “Accepted” was not delivered after 1 try'],
  [{ state: 'refused', occasion: 'received' }, 'Receipt was refused by the mail server'],
  [
    { state: 'sending', occasion: '', subject: 'Your {{ reply_by }}' },
    'Letter “Your their deadline” is being sent.',
  ],
  [{ state: 'draft' }, ''],
  [{ state: 'withdrawn' }, ''],
])('a sentence describes the state of an email: %j', (changes, words) => {
  expect(wordsOfLetter({ ...mail, ...changes })).toBe(words)
})

test('each event has its key, moment and author, and only the first one has the letter', () => {
  const later = '2026-11-23T10:00:00+00:00'
  expect(eventsOf([{ ...mail, sent_at: later }])).toEqual([
    {
      key: '1 released',
      at,
      author: 'ada@example.org',
      text: 'Letter “Accepted” on the way',
      letter: { ...mail, sent_at: later },
    },
    { key: '1 sent', at: later, author: null, text: 'Letter “Accepted” sent' },
  ])
  const stopped: Letter = { ...mail, ...withdrawn, withdrawn_at: later, withdrawn_by: 'bob@example.org' }
  expect(eventsOf([stopped])[1]).toEqual({
    key: '1 withdrawn',
    at: later,
    author: 'bob@example.org',
    text: 'Letter “Accepted” stopped',
  })
  const byHand: Letter = { ...mail, otherwise: 'by hand' }
  expect(eventsOf([byHand])).toEqual([
    { key: '1 sent', at, author: 'ada@example.org', text: 'Letter “Accepted” sent by hand', letter: byHand },
  ])
})

test('a draft has no events, and a letter whose applicant was contacted another way has no event for sending', () => {
  expect(eventsOf([{ ...mail, state: 'draft' }])).toEqual([])
  expect(eventsOf([{ ...mail, released_at: null }])).toEqual([])
  const words = (letters: Letter[]) => eventsOf(letters).map(({ text }) => text)
  expect(words([{ ...mail, otherwise: 'told' }])).toEqual(['Letter “Accepted” on the way'])
  expect(words([{ ...mail, withdrawn_at: at }])).toEqual([
    'Letter “Accepted” on the way',
    'Letter “Accepted” sent',
  ])
  expect(words([{ ...mail, ...withdrawn, withdrawn_at: null }])).toEqual(['Letter “Accepted” on the way'])
})

test('a letter to an automation has a release event, unless an email was released with it', () => {
  const words = (changes: Partial<Letter>) =>
    eventsOf([{ ...mail, ...changes }, toAutomation])
      .map(({ text }) => text)
      .includes('“Accepted” on the way to the automation')
  expect([words({}), words({ act: 'y' }), words({ application: 'b' }), words({ way: 'automation' })]).toEqual(
    [false, true, true, true],
  )
})

test.each([
  ['accepted', 'Accepted', { decision: true, neither: false, asks: true, follows: false }],
  ['waitlisted', 'Waitlisted', { decision: true, neither: false, asks: false, follows: false }],
  ['declined', 'Declined', { decision: true, neither: false, asks: false, follows: false }],
  ['received', 'Receipt', { decision: false, neither: false, asks: false, follows: false }],
  ['reminder', 'Reminder', { decision: false, neither: true, asks: true, follows: true }],
  ['confirmed', 'Confirmation', { decision: false, neither: true, asks: true, follows: true }],
  ['questions', 'Question reminder', { decision: false, neither: true, asks: true, follows: true }],
  ['new', 'new', { decision: false, neither: true, asks: true, follows: false }],
  ['Travel', 'Travel', { decision: false, neither: true, asks: true, follows: false }],
  ['', 'Personal letter', { decision: false, neither: true, asks: true, follows: false }],
])('the occasion %j is called %s: %j', (occasion, name, expected) => {
  expect(nameOfOccasion(occasion)).toBe(name)
  expect({
    decision: isOfDecision(occasion),
    neither: isNeitherDecisionNorReceipt(occasion),
    asks: mayAskForRsvp(occasion),
    follows: isAfterAcceptance(occasion),
  }).toEqual(expected)
})

test('a mail server sends every letter, and an automation only decisions', () => {
  type Postman = Parameters<typeof isSentByServer>[1]
  const postman = (is_there: boolean, is_automation_there: boolean) =>
    ({ is_there, is_automation_there }) as Postman
  const sentByServer = (...servers: [boolean, boolean]) =>
    ['accepted', 'Travel'].map((occasion) => isSentByServer(occasion, postman(...servers)))
  expect(sentByServer(true, false)).toEqual([true, true])
  expect(sentByServer(false, true)).toEqual([true, false])
  expect(sentByServer(false, false)).toEqual([false, false])
})

test('placeholders of the invitation are shown as words, and other placeholders stay unchanged', () => {
  expect(partsOf('Answer at {{answer_link}} by {{ reply_by }}, {{first_name}}.')).toEqual([
    { words: 'Answer at ', isFilledLater: false },
    { words: 'RSVP link', isFilledLater: true },
    { words: ' by ', isFilledLater: false },
    { words: 'their deadline', isFilledLater: true },
    { words: ', {{first_name}}.', isFilledLater: false },
  ])
  expect(invitationHint).toBe('{{answer_link}} is the RSVP link, {{reply_by}} is their deadline.')
  expect(partsOf('answer_link')).toEqual([{ words: 'answer_link', isFilledLater: false }])
  const filledLater = (subject: string, body: string) => isFilledLater({ subject, body })
  expect(filledLater('{{  answer_link  }}', '')).toBe(true)
  expect(filledLater('', '{{reply_by}}')).toBe(true)
  expect(filledLater('answer_link', '{{first_name}}')).toBe(false)
})

test('a letter shows the deadline if it is known, and a receipt shows where its link will be', () => {
  const wordsOf = (text: string, replyBy?: string) =>
    partsOf(text, replyBy)
      .map(({ words }) => words)
      .join('')
  expect(wordsOf('Answer at {{answer_link}} by {{reply_by}}, please.', '2026-12-03')).toBe(
    'Answer at RSVP link by 3 December 2026, please.',
  )
  expect(wordsOf('Not coming? {{withdraw_link}}')).toBe('Not coming? link to withdraw')
})

test.each([
  ['answer_link', 'of the invitation'],
  ['reply_by', 'of the invitation'],
  ['retreat', 'of the retreat: retreat'],
  ['days', 'of the retreat: the days'],
  ['venue', 'of the retreat: the venue'],
  ['company', 'a blank answer'],
])('a letter that lacks {{%s}} says where its value comes from: %s', (name, words) => {
  const ofRetreat = retreatPlaceholders.includes(name) && `of the retreat: ${retreatWords[name] ?? name}`
  expect(isInvitationPlaceholder(name) ? 'of the invitation' : ofRetreat || 'a blank answer').toBe(words)
})

test.each([
  ['/desk', 'https://retreat.example'],
  ['/folder/desk/', 'https://retreat.example/folder'],
])('at %s, letters link to the site at %s', (pathname, site) => {
  atTestEnd(() => void vi.unstubAllGlobals())
  vi.stubGlobal('location', { origin: 'https://retreat.example', pathname })
  expect(siteOfDesk()).toBe(site)
})

test('a draft with blank form answers, unknown placeholders or too much text cannot be sent', () => {
  expect(isSendable(mail)).toBe(true)
  expect(isSendable({ ...mail, missing: ['company'] })).toBe(false)
  expect(isSendable({ ...mail, unknown: ['firstname'] })).toBe(false)
  expect(isSendable({ ...mail, is_long: true })).toBe(false)
})

test('a second letter of an occasion counts as sent before, except a letter to one person', () => {
  expect([1, 2].map((edition) => wasSentBefore({ occasion: 'Travel', edition }))).toEqual([false, true])
  expect(wasSentBefore({ occasion: '', edition: 2 })).toBe(false)
})

test('a changed draft counts as edited, except a letter to one person, which has no template', () => {
  const edited = (occasion: string, is_edited: boolean) => isEdited({ occasion, is_edited })
  expect([edited('Travel', true), edited('Travel', false), edited('', true)]).toEqual([true, false, false])
})

test.each([
  [0, 5, 'Sending resumed.'],
  [1, 65, '1 letter will be sent in 1:05.'],
  [1_000, 630, '1,000 letters will be sent in 10:30.'],
])('after sending was resumed with %i letters, the desk says when they are sent', (count, seconds, words) => {
  expect(leavingWords(count, seconds)).toBe(words)
})

test('the number of tries is put into words, and the id replaces a hidden name', () => {
  expect([triesOf({ attempts: 1 }), triesOf({ attempts: 2 })]).toEqual(['1 try', '2 tries'])
  const nameOf = (name: string | null) => nameOfLetter({ name, application: '02c90b33-435e' })
  expect([nameOf(null), nameOf('Ada')]).toEqual(['Application 02c9', 'Ada'])
})

test('the drafts of decisions are those of all three statuses, and other drafts are of one occasion', () => {
  const occasions = ['accepted', 'waitlisted', 'declined', 'received', 'Travel', '']
  const among = (shown: string | null) => occasions.filter((occasion) => isAmong(occasion, shown))
  expect(among(null)).toEqual(['accepted', 'waitlisted', 'declined'])
  expect([among('accepted'), among('Travel'), among('')]).toEqual([['accepted'], ['Travel'], ['']])
})

test('letters are counted by kind, and recipients are named up to the third', () => {
  const occasions = ['accepted', 'accepted', 'waitlisted', 'declined', 'declined', 'Travel', 'reminder', '']
  expect(kindWords(occasions.map((occasion) => ({ occasion })))).toBe(
    '2 acceptances, 1 waitlist letter, 2 declines, 1 letter “Travel”, 1 letter “Reminder”, 1 personal letter',
  )
  expect(['Ada', 'Ada Ben Cem', 'Ada Ben Cem Dan Eve'].map((names) => firstWords(names.split(' ')))).toEqual([
    'Ada',
    'Ada, Ben, Cem',
    'Ada, Ben, Cem and 2 more',
  ])
})

test('the first deadline is that of letters that accept somebody or tell the deadline', () => {
  const first = (...letters: Partial<Letter>[]) =>
    firstDeadlineOf(letters.map((each) => ({ ...mail, ...each })))
  const later = { reply_by: '2026-12-20' }
  const sooner = { reply_by: '2026-12-10' }
  expect(first(later, sooner, { reply_by: null })).toBe('2026-12-10')
  expect(first(later, { ...sooner, occasion: 'Travel' })).toBe('2026-12-20')
  expect(first(later, { ...sooner, occasion: 'Travel', body: 'By {{reply_by}}.' })).toBe('2026-12-10')
  expect(first({ occasion: 'declined' })).toBeUndefined()
  expect(first({ reply_by: null })).toBeUndefined()
})

test.each([
  // Places, free ones, accepted people who were not told, acceptances among the letters.
  [40, -8, 12, 12, '36 of 40 places are taken. With these 12 acceptances it is 48.'],
  [40, -8, 20, 12, '36 of 40 places are taken. With these 12 acceptances it is 48.'],
  [1, -1, 1, 1, '1 of 1 place is taken. With this acceptance it is 2.'],
  // Some letters are for an earlier retreat.
  [40, -1, 1, 3, '40 of 40 places are taken. With this acceptance it is 41.'],
  [40, 0, 12, 12, ''],
  [40, -8, 12, 0, ''],
  [40, -8, 0, 2, ''],
  [null, null, 12, 12, ''],
])(
  'of %j places %j are free, %i are not told, %i letters accept: %j',
  (places, free, not_told, acceptances, words) => {
    expect(overbookedWords({ places, free, not_told }, acceptances)).toBe(words)
  },
)

test.each([
  ['waiting', -1, false],
  ['waiting', 0, true],
  ['sending', 29, true],
  ['waiting', 30, false],
  ['sent', 1, false],
  ['waiting', null, false],
] as const)(
  'a letter that is %s, %j seconds after it was due, is being sent: %j',
  (state, seconds, expected) => {
    const now = Date.parse(at)
    const dueAt = seconds === null ? null : new Date(now - seconds * 1000).toISOString()
    expect(isBeingSent({ state, due_at: dueAt }, now)).toBe(expected)
  },
)

test('of each occasion the last letter can come back, unless it is drafted again, stopped or told another way', () => {
  const declined: Letter = { ...mail, id: '4', occasion: 'declined', act: 'y' }
  const personal: Letter[] = ['5', '6'].map((id) => ({ ...mail, id, occasion: '', act: id }))
  const returnable = (...letters: Letter[]) => returnableLetters(letters).map(({ id }) => id)
  expect(returnable(receipt, mail, toAutomation, declined, ...personal)).toEqual(['3', '1', '4', '5', '6'])
  expect(returnable({ ...toAutomation, act: 'z' })).toEqual(['2'])
  expect(returnable(mail, { ...mail, id: '7', act: 'z', state: 'refused' })).toEqual(['7'])
  expect(returnable(mail, { ...mail, id: '7', act: 'z', state: 'given up' })).toEqual(['7'])
  expect(returnable(mail, { ...mail, id: '7', ...withdrawn })).toEqual(['1'])
  expect(returnable(mail, { ...mail, id: '7', state: 'draft' })).toEqual([])
  expect(returnable({ ...mail, state: 'waiting' }, { ...declined, otherwise: 'told' })).toEqual([])
})

test('a sentence says when a letter to an address failed, if one did', () => {
  expect(failedAddressWords(at)).toBe('A letter to this address was not delivered on 22 Nov 2026.')
  expect(failedAddressWords(null)).toBe('')
})

test.each([
  [{ subject: 's', body: 'Answer here: {{answer_link}}' }, true],
  [{ subject: 's', body: '{{  answer_link  }}' }, true],
  [{ subject: '{{answer_link}}', body: 'b' }, true],
  [{ subject: 's', body: 'By {{reply_by}}' }, false],
  [{ subject: 's', body: '{{ withdraw_link }}' }, false],
])('a draft asks for an RSVP if it has the link: %o %s', (draft, asks) => {
  expect(asksForRsvp(draft)).toBe(asks)
})

test('the warning about a missing address names the setting', () => {
  expect(noSiteWords).toMatch(/no link for an RSVP is sent\. Ask your operator to set SITE_URL first\.$/)
})
