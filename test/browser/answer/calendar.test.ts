import ICAL from 'ical.js'
import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { storeAcceptedApplicant } from '../../support/accepted.ts'
import { calendarIn, contentOf, setRetreat } from '../../support/calendars.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { test } from '../../support/browser-test.ts'
import { activateWindow } from '../../support/refresh.ts'

let mailServer: MailServer
const desk = deskForTestFile(async () => {
  mailServer = await startMailServer()
  return {
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
    // The event in the calendar has this title, because the retreat of these tests has no name.
    SITE_TITLE: 'Slow; <Summer>',
  }
})

beforeEach(async () => {
  await desk.sql`update private.letter_settings set hold = '0', confirmations = false`
  await setRetreat(desk.sql, { starts_on: null, ends_on: null, calendar_sequence: 0 })
})

const failedRequest = /Failed to load resource/
const calendarLink = (page: Page) => page.getByRole('link', { name: 'Add to your calendar', exact: true })

/** Lets a guest's page save its file. */
async function download(page: Page) {
  const [saved] = await Promise.all([page.waitForEvent('download'), calendarLink(page).click()])
  expect(saved.suggestedFilename()).toBe('retreat.ics')
  return contentOf(saved)
}

/** The lines of a file without the moment at which it was made. */
const linesOf = (file: string | undefined) =>
  file?.split('\r\n').filter((line) => !line.startsWith('DTSTAMP:'))

function eventIn(file: string) {
  const event = ICAL.Component.fromString(file).getFirstSubcomponent('vevent')
  return Object.fromEntries(
    ['uid', 'sequence', 'dtstart', 'dtend', 'location', 'summary'].map((name) => [
      name,
      String(event?.getFirstPropertyValue(name)),
    ]),
  )
}

test('a guest gets the days that were set at the desk for their calendar, from their page and in a confirmation', async ({
  visitor,
}) => {
  const page = await desk.open(visitor, '/retreat')
  const { button, status, link } = getDesk(page)
  await page.getByLabel('First day').fill('2027-03-12')
  // The browser asks for the last day, too, and nothing is sent.
  await button('Save retreat').click()
  expect(
    await page.getByLabel('Last day').evaluate((field: HTMLInputElement) => field.validity.valueMissing),
  ).toBe(true)
  await page.getByLabel('Last day').fill('2027-03-15')
  await page.getByLabel('Venue').fill('Hof Sonnenau, Bernau')
  await button('Save retreat').click()
  await status.getByText(/^Saved\. The retreat: 12\s*–\s*15 March 2027, Hof Sonnenau, Bernau\.$/).waitFor()
  await link('Letters').click()
  await page.getByRole('switch', { name: 'Send a confirmation to each person who is coming' }).click()
  await status.getByText('Confirmations are on.').waitFor()

  const guest = await storeAcceptedApplicant(desk.sql, { email: 'ada@example.com' })
  const answer = await visitor.open(`${desk.origin}/answer/#${guest.token}`, { isNew: true })
  await answer.getByRole('button', { name: 'I am coming', exact: true }).click()
  const file = await download(answer)
  const { uid = '', ...event } = eventIn(file)
  expect(event).toEqual({
    sequence: '1',
    dtstart: '2027-03-12',
    dtend: '2027-03-16',
    location: 'Hof Sonnenau, Bernau',
    summary: 'Slow; <Summer>',
  })
  const [mail] = await mailServer.waitFor(1, 'ada@example.com')
  expect(mail?.subject).toBe('See you at Unplugged')
  expect(linesOf(calendarIn(mail ?? { raw: '' }))).toEqual(linesOf(file))
  await page.goto(`${desk.origin}/desk#/applications/${guest.id}`)
  await page.getByText('Letter “Confirmation” sent').waitFor()

  // No email reports a change. The guest's page shows it, and the new file replaces the event in a calendar.
  await link('Retreat').click()
  await page.getByLabel('Venue').fill('Davos')
  await button('Save retreat').click()
  await status.getByText(/Davos\.$/).waitFor()
  await activateWindow(answer)
  await answer.getByText('Davos').waitFor()
  expect(eventIn(await download(answer))).toEqual({ ...event, uid, sequence: '2', location: 'Davos' })
  expect(mailServer.received.filter(({ to }) => to.includes('ada@example.com'))).toHaveLength(1)
  await link('History').click()
  await page.getByText(/^The retreat: 12\s*–\s*15 March 2027, Davos/).waitFor()
  await page.getByText('Confirmations switched on').waitFor()
  await page.close()
})

test('if somebody else changed the retreat meanwhile, saving the venue overwrites nothing and shows the change', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const page = await desk.open(visitor, '/retreat')
  const { button, status } = getDesk(page)
  await page.getByLabel('Venue').fill('Davos')
  await desk.bob.client
    .rpc('desk_set_retreat', { version: 0, starts_on: '2027-03-12', ends_on: '2027-03-12', venue: 'Bernau' })
    .throwOnError()
  await button('Save retreat').click()
  await page
    .getByRole('alert')
    .getByText('Somebody else changed this meanwhile. The retreat: 12 March 2027, Bernau.')
    .waitFor()
  expect(await page.getByLabel('Venue').inputValue()).toBe('Davos')
  await button('Discard').click()
  await expect.poll(() => page.getByLabel('Venue').inputValue()).toBe('Bernau')
  expect(await page.getByLabel('First day').inputValue()).toBe('2027-03-12')
  await page.getByLabel('First day').fill('')
  await page.getByLabel('Last day').fill('')
  await button('Save retreat').click()
  await status.getByText('Saved. The retreat: days not set, Bernau.').waitFor()
  await page.close()
})
