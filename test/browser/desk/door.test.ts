import { expect } from 'vitest'

import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { test, waitForTakeOver } from '../../support/browser-test.ts'

const desk = deskForTestFile()

test('a closed door refuses applications with its sentence and keeps form answers until it is opened', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const sentence = 'Alle Plätze sind vergeben. Bis nächstes Jahr!'
  const page = await visitor.open(desk.origin)
  await waitForTakeOver(page)
  await desk.ada.client.rpc('desk_set_door', { version: 0, closed: true, sentence }).throwOnError()
  const form = getForm(page)
  await form.fill(anApplication({ first_name: 'Grace', reason: 'To think.' }))
  const answers = await form.answers()
  await form.button.click()
  await form.failure.waitFor()
  await page.locator('#outcome').getByText(sentence, { exact: true }).waitFor()
  // The form is closed: what was typed can be read, and cannot be sent.
  expect(await form.answers()).toMatchObject({ first_name: 'Grace', reason: 'To think.' })
  expect(await form.button.isDisabled()).toBe(true)
  expect(await desk.sql`select from public.retreat_applications`).toEqual([])

  await desk.ada.client.rpc('desk_set_door', { version: 1, closed: false, sentence }).throwOnError()
  // As when the visitor comes back to the tab.
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await expect.poll(() => form.button.isEnabled()).toBe(true)
  expect(await form.answers()).toEqual(answers)
  await form.button.click()
  await form.success.waitFor()
  expect(await desk.sql`select first_name, reason from public.retreat_applications`).toEqual([
    { first_name: 'Grace', reason: 'To think.' },
  ])
})

test("a door closes at a time in the organiser's own time zone, and a past time is refused before it is sent", async ({
  visitor,
}) => {
  const page = await desk.open(visitor, '/door', { timezoneId: 'Asia/Kathmandu' })
  const { button } = getDesk(page)
  const closeAt = page.getByLabel('Close at')
  await page.getByText(/In your own time zone, Asia\/Kath?mandu\./).waitFor()
  await closeAt.fill('2999-03-01T18:00')
  await button('Save').click()
  await page.getByText('The door is open, until 1 Mar 2999, 18:00.', { exact: true }).waitFor()
  expect(await desk.sql`select closes_at from private.door`).toEqual([
    { closes_at: new Date('2999-03-01T12:15Z') },
  ])
  await closeAt.fill('2020-03-01T18:00')
  await button('Save').click()
  expect(await closeAt.evaluate((field: HTMLInputElement) => field.validity.rangeUnderflow)).toBe(true)
  expect(await desk.sql`select version from private.door`).toEqual([{ version: 1 }])
})
