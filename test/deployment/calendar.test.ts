import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

import { calendarFileOf } from '../../src/application/calendar.ts'
import { aRetreat, hostileTexts, readable } from '../support/calendars.ts'
import { cannotRun } from '../support/requirements.ts'

/** Debian's Python, whose packages other Pythons do not see. */
const python = '/usr/bin/python3'

const program = `
import json, sys
from icalendar import Calendar
def read(file):
    calendar = Calendar.from_ical(file)
    event, = calendar.walk('VEVENT')
    return {
        'components': [each.name for each in calendar.walk()],
        'properties': sorted(event.keys()),
        'errors': event.errors + calendar.errors,
        'method': calendar['METHOD'], 'uid': event['UID'], 'sequence': event['SEQUENCE'],
        'text': [event['SUMMARY'], event['LOCATION']],
        'description': event['DESCRIPTION'], 'url': event['URL'],
        'days': [str(event[name].dt) for name in ('DTSTART', 'DTEND')],
        'types': [type(event[name].dt).__name__ for name in ('DTSTART', 'DTEND')],
        'stamp': event['DTSTAMP'].dt.isoformat(),
    }
print(json.dumps([read(file) for file in json.load(sys.stdin)]))
`

/**
 * Debian 12's icalendar misreads a backslash before one of these characters. Such a backslash is escaped as two, and icalendar
 * takes the second one and the character for an escape.
 */
const misread = /\\[nN,;]/

test('Python’s icalendar reads every name and every venue as text, and the days as days', ({ skip }) => {
  try {
    execFileSync(python, ['-c', 'import icalendar'], { stdio: 'ignore' })
  } catch {
    cannotRun(skip, 'There is no icalendar for Python: apt-get install python3-icalendar.')
  }
  const site = 'https://example.org/retreat/'
  const now = new Date('2026-11-27T23:04:05Z')
  const files = hostileTexts.map((text) =>
    calendarFileOf(aRetreat({ name: text, venue: text }), '', site, now),
  )
  const readEvents = JSON.parse(
    execFileSync(python, ['-c', program], { input: JSON.stringify(files), encoding: 'utf8' }),
  ) as object[]
  const compared = readEvents.map((each, index) =>
    misread.test(hostileTexts[index] ?? '') ? { ...each, text: null } : each,
  )
  expect(compared).toEqual(
    hostileTexts.map((text) => ({
      text: misread.test(text) ? null : [readable(text), readable(text)],
      components: ['VCALENDAR', 'VEVENT'],
      properties: [
        'DESCRIPTION',
        'DTEND',
        'DTSTAMP',
        'DTSTART',
        'LOCATION',
        'SEQUENCE',
        'SUMMARY',
        'UID',
        'URL',
      ],
      description: `To change your answer, open the link in the letter. ${site}`,
      url: site,
      errors: [],
      method: 'PUBLISH',
      uid: aRetreat().uid,
      sequence: 2,
      days: ['2027-03-12', '2027-03-16'],
      types: ['date', 'date'],
      stamp: '2026-11-27T23:04:05+00:00',
    })),
  )
})
