import { isMainThread } from 'node:worker_threads'

import * as fc from 'fast-check'
import ICAL from 'ical.js'
import { afterEach, expect, test, vi } from 'vitest'

import { aRetreat, hostileTexts, readable } from '../../test/support/calendars.ts'
import { extent, seed } from '../../test/support/quick-or-long.ts'
import { calendarFileOf, daysOf, webCalendarsOf, type Retreat } from './calendar.ts'

afterEach(() => vi.unstubAllEnvs())

const now = new Date('2026-11-27T23:04:05.678Z')
const site = 'https://example.org/a;b,c/'
const fileOf = (changes: Partial<Retreat> = {}) => calendarFileOf(aRetreat(changes), 'Unplugged.', site, now)

/** Reads a file as a calendar program does. `components`, `calendarProperties` and `eventProperties` are names. */
function read(file: string) {
  const calendar = ICAL.Component.fromString(file)
  const components = calendar.getAllSubcomponents()
  const event = calendar.getFirstSubcomponent('vevent')
  if (event === null) throw new Error('There is no event.')
  return {
    components: components.map(({ name }) => name),
    nestedCount: event.getAllSubcomponents().length,
    calendarProperties: calendar.getAllProperties().map(({ name }) => name),
    eventProperties: event.getAllProperties().map(({ name }) => name),
    summary: event.getFirstPropertyValue('summary'),
    location: event.getFirstPropertyValue('location'),
    description: event.getFirstPropertyValue('description'),
    url: event.getFirstPropertyValue('url'),
    start: event.getFirstPropertyValue('dtstart') as ICAL.Time,
    end: event.getFirstPropertyValue('dtend') as ICAL.Time,
    sequence: event.getFirstPropertyValue('sequence'),
    uid: event.getFirstPropertyValue('uid'),
    method: calendar.getFirstPropertyValue('method'),
  }
}

test('a retreat without a name has the title of the page', () => {
  const file = calendarFileOf(aRetreat({ name: '' }), 'Slow; <Summer>', site, now)
  expect(read(file).summary).toBe('Slow; <Summer>')
})

test('the calendar file is one event of whole days that asks for no reply', () => {
  const file = fileOf()
  expect(file.split('\r\n')).toEqual([
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Unplugged//Retreat//EN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    'UID:6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11',
    'SEQUENCE:2',
    'DTSTAMP:20261127T230405Z',
    'DTSTART;VALUE=DATE:20270312',
    'DTEND;VALUE=DATE:20270316',
    'SUMMARY:Unplugged.',
    'LOCATION:Hof Sonnenau\\, Bernau am Chiemsee',
    'DESCRIPTION:To change your answer\\, open the link in the letter. https://ex',
    ' ample.org/a\\;b\\,c/',
    'URL:https://example.org/a;b,c/',
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ])
  const { start, end, ...others } = read(file)
  expect(others).toMatchObject({ method: 'PUBLISH', sequence: 2, location: aRetreat().venue, nestedCount: 0 })
  expect([start.isDate, end.isDate]).toEqual([true, true])
  // The end is the day after the last one.
  expect(end.subtractDate(start).toSeconds()).toBe(4 * 86_400)
})

test('the event has the name of the edition, and has no location if there is no venue', () => {
  expect(read(fileOf({ name: 'Unplugged. in spring', venue: '' }))).toMatchObject({
    summary: 'Unplugged. in spring',
    location: null,
  })
})

test('a line of 75 octets stays whole, and a longer one is folded', () => {
  const name = 'x'.repeat(75 - 'SUMMARY:'.length)
  expect(fileOf({ name })).toContain(`SUMMARY:${name}\r\n`)
  expect(fileOf({ name: `${name}y` })).toContain(`SUMMARY:${name}\r\n y\r\n`)
})

// A worker thread, as Stryker has them, cannot change its time zone.
test.skipIf(!isMainThread).each([
  ['of one day', '2027-03-12', '2027-03-12', '20270313', '12 March 2027'],
  ['over a month’s end', '2027-03-30', '2027-04-02', '20270403', '30 March–2 April 2027'],
  ['over a year’s end', '2027-12-30', '2027-12-31', '20280101', '30–31 December 2027'],
  ['on a leap day', '2028-02-27', '2028-02-28', '20280229', '27–28 February 2028'],
  ['over the change to summer time', '2027-03-27', '2027-03-28', '20270329', '27–28 March 2027'],
])('the days of a retreat %s are the same in every time zone', (_what, start, end, dayAfter, words) => {
  const days = { starts_on: start, ends_on: end }
  for (const zone of [
    'UTC',
    'Pacific/Pago_Pago',
    'Pacific/Kiritimati',
    'Europe/Berlin',
    'America/New_York',
  ]) {
    vi.stubEnv('TZ', zone)
    expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone)
    const file = fileOf(days)
    expect(file).toContain(
      `DTSTART;VALUE=DATE:${start.replaceAll('-', '')}\r\nDTEND;VALUE=DATE:${dayAfter}\r\n`,
    )
    expect(file).not.toMatch(/TZID|VTIMEZONE/)
    // Versions of Unicode's data differ in the blanks around the dash.
    expect(daysOf(days).replace(/\s*–\s*/, '–')).toBe(words)
  }
})

test('days in two years have blanks around the dash', () => {
  const words = daysOf({ starts_on: '2027-12-30', ends_on: '2028-01-02' })
  expect(words.replaceAll(/\s/g, ' ')).toBe('30 December 2027 – 2 January 2028')
})

/** Reads a file with these texts as a calendar program does, and finds mistakes in its lines. */
function readWith(name: string, venue: string) {
  const file = fileOf({ name, venue })
  const { start, end, ...others } = read(file)
  return {
    ...others,
    days: [start.toString(), end.toString()],
    strayEnd: /\r(?!\n)|(?<!\r)\n/.exec(file),
    longLine: file.split('\r\n').find((line) => new TextEncoder().encode(line).length > 75),
    // A lone surrogate: the end of a line splits a character.
    splitCharacter: /[\ud800-\udfff]/u.exec(file),
  }
}

/** The result for one event that has these texts as its name and location, and nowhere else. */
const expectedWith = (name: string, venue: string) => ({
  components: ['vevent'],
  nestedCount: 0,
  calendarProperties: ['version', 'prodid', 'method'],
  eventProperties: [
    'uid',
    'sequence',
    'dtstamp',
    'dtstart',
    'dtend',
    'summary',
    ...(venue ? ['location'] : []),
    'description',
    'url',
  ],
  summary: readable(name) || 'Unplugged.',
  location: readable(venue) || null,
  description: `To change your answer, open the link in the letter. ${site}`,
  url: site,
  sequence: 2,
  uid: aRetreat().uid,
  method: 'PUBLISH',
  days: ['2027-03-12', '2027-03-16'],
  strayEnd: null,
  longLine: undefined,
  splitCharacter: null,
})

// break: venue-line-end-kept
test.each(hostileTexts)('a name or a venue stays text: %j', (each) => {
  expect(readWith(each, each)).toEqual(expectedWith(each, each))
})

const part = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ unit: 'binary', maxLength: 90 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)
const text = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(''))

test('a random name or venue stays text', () => {
  const property = fc.property(text, text, (name, venue) => {
    expect(readWith(name, venue)).toEqual(expectedWith(name, venue))
  })
  fc.assert(property, { seed, numRuns: extent({ quick: 500, long: 20_000 }) })
})

test.each(hostileTexts)(
  'the links for Google and Outlook carry the title, the days and the venue alone: %j',
  (each) => {
    const { google, outlook } = webCalendarsOf(aRetreat({ name: each, venue: each }), 'Unplugged.')
    expect(parametersOf(google)).toEqual({
      page: 'https://calendar.google.com/calendar/render',
      action: 'TEMPLATE',
      text: each,
      dates: '20270312/20270316',
      location: each,
    })
    expect(parametersOf(outlook)).toEqual({
      page: 'https://outlook.live.com/calendar/0/deeplink/compose',
      path: '/calendar/action/compose',
      rru: 'addevent',
      allday: 'true',
      subject: each,
      startdt: '2027-03-12',
      enddt: '2027-03-16',
      location: each,
    })
    // Outlook shows a plus as it is.
    expect(google + outlook).not.toContain('+')
  },
)

test('without a name, the links for Google and Outlook have the title of the page', () => {
  const { google, outlook } = webCalendarsOf(aRetreat(), 'Slow & <Summer>')
  expect([parametersOf(google)['text'], parametersOf(outlook)['subject']]).toEqual(
    Array(2).fill('Slow & <Summer>'),
  )
})

function parametersOf(address: string): Record<string, string> {
  const { origin, pathname, searchParams, hash } = new URL(address)
  return { page: origin + pathname + hash, ...Object.fromEntries(searchParams) }
}
