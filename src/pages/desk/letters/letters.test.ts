import { expect, test } from 'vitest'

import type { Letter } from '../../../client/desk/letters.ts'
import { momentOf } from '../kit/format.ts'
import { eventsOf, wordsOfLetter } from './letters.ts'

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
const told: Letter = { ...mail, id: '2', way: 'automation' }
const receipt: Letter = { ...mail, id: '3', occasion: 'received', author: null, act: null }
const withdrawn = { state: 'withdrawn', sent_at: null, withdrawn_at: at } as const

test.each<[Letter[], string[]]>([
  [[receipt], ['Receipt sent']],
  [[{ ...receipt, ...withdrawn }], ['Receipt withdrawn']],
  [[{ ...receipt, state: 'waiting', sent_at: null }], []],
  [
    [mail, told],
    ['Letter “Accepted” released', 'Letter “Accepted” sent', 'Automation told: “Accepted”'],
  ],
  [[told], ['“Accepted” released to the automation', 'Automation told: “Accepted”']],
  [
    [
      { ...mail, ...withdrawn },
      { ...told, ...withdrawn },
    ],
    ['Letter “Accepted” released', 'Letter “Accepted” withdrawn'],
  ],
  [
    [mail, { ...told, ...withdrawn }],
    ['Letter “Accepted” released', 'Letter “Accepted” sent', 'Automation not told: “Accepted” withdrawn'],
  ],
])('what goes both ways was released once, and a receipt by nobody', (letters, words) => {
  expect(eventsOf(letters).map(({ text }) => text)).toEqual(words)
})

test.each<[Partial<Letter>, string]>([
  [
    { state: 'waiting', attempts: 0, due_at: at },
    `The automation is told “Accepted”, not before ${momentOf(at)}.`,
  ],
  [{ state: 'waiting', answer: 'HTTP 500' }, 'The automation is told “Accepted”, after 1 try: HTTP 500'],
  [{ state: 'sending' }, 'The automation is being told “Accepted”.'],
  [{ state: 'refused', answer: 'HTTP 410' }, 'The automation refused to be told “Accepted”: HTTP 410'],
  [
    { state: 'given up', attempts: 2, answer: 'No answer came.' },
    'The automation was not reached to be told “Accepted”, after 2 tries: No answer came.',
  ],
  [{ state: 'sent' }, ''],
])('of an automation nothing is said of mails: %j', (standing, words) => {
  expect(wordsOfLetter({ ...told, ...standing })).toBe(words)
})
