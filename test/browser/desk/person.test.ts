import { buffer } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import type { AllAbout } from '../../../src/client/desk/person.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { anApplication } from '../../support/form.ts'
import { overflow } from '../../support/overflow.ts'
import { storeGuest } from '../../support/stored-guest.ts'
import { resize } from '../../support/resize.ts'
import { valuesOf } from '../../support/sql.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()
const title = 'Everything about a person'

const linesOf = async (page: Page) =>
  (await page.locator('body').innerText()).split(/\s*\n\s*/).filter(Boolean)

/** Stores an application of somebody else, for whom an organiser mistyped an address: it is the guest's. */
const storeMistyped = () => desk.sql`
  with stored as (
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name: 'Grace' }) })} returning id
  )
  insert into private.addresses select id, 'ada@example.com' from stored`

test('the JSON has what the database returns, the time at which it was read, and nothing that may be about somebody else', async ({
  visitor,
}) => {
  const id = await storeGuest(desk)
  await storeMistyped()
  const page = await desk.open(visitor, `/applications/${id}/all`)
  const saved = page.waitForEvent('download')
  await getDesk(page).button('Download JSON').click()
  const file = await saved
  expect(file.suggestedFilename()).toMatch(/^person-\d{4}-\d\d-\d\d\.json$/)
  const { at, ...about } = JSON.parse((await buffer(await file.createReadStream())).toString()) as {
    at: string
  }
  const { data } = await desk.ada.client.rpc('desk_all_about', { application: id })
  const { by_address, ...given } = data as AllAbout
  expect(by_address).toHaveLength(1)
  expect(about).toEqual(given)
  expect(at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  await expect.poll(() => getDesk(page).status.textContent()).toBe('Downloaded everything about this person.')
})

test('the printed page has everything, nothing to press, and each application on its own sheet', async ({
  visitor,
}) => {
  const id = await storeGuest(desk)
  await storeMistyped()
  const page = await desk.open(visitor, `/applications/${id}/all`)
  await page.getByText('Grace').waitFor()
  await page.evaluate(() => (window.print = () => (document.title = 'printed')))
  await getDesk(page).button('Print').click()
  await expect.poll(() => page.title()).toBe('printed')
  await page.emulateMedia({ media: 'print' })
  // A4 in portrait, without its margins.
  await resize(page, { width: 680, height: 1000 })
  const lines = await linesOf(page)
  expect(lines.slice(0, 2)).toEqual([
    title,
    expect.stringMatching(
      /^Ada Lovelace, ada@example\.com: 2 applications, as of \d+ \w+ 20\d\d, \d\d:\d\d\.$/,
    ) as string,
  ])
  expect(lines.filter((line) => /Print|Download|operator|Back$|Unplugged\. \d/.test(line))).toEqual([])
  expect(lines.join('\n')).not.toMatch(/Grace|somebody else/)
  expect(lines.join('\n')).toContain('By train: [RSVP link]')
  expect(await overflow(page)).toEqual({ scroll: 0, wide: [] })
  const breaks = await page
    .locator('.person-screen > section')
    .evaluateAll((sections) => sections.map((section) => getComputedStyle(section).breakBefore))
  expect(breaks).toEqual(['auto', 'page'])
})

test('Tab goes from the way back to Print, Download JSON and the applications of the address', async ({
  visitor,
}) => {
  const id = await storeGuest(desk)
  await storeMistyped()
  const page = await desk.open(visitor, `/applications/${id}/all`)
  await getDesk(page).button('Print').waitFor()
  await getDesk(page).link('Back').focus()
  const stops: string[] = []
  for (let press = 0; press < 3; press += 1) {
    await page.keyboard.press('Tab')
    stops.push(await focused(page))
  }
  expect(stops).toEqual([
    'BUTTON: Print',
    'BUTTON: Download JSON',
    expect.stringMatching(/^A: Grace Lovelace/) as string,
  ])
})

test('nothing is wider than a phone of 360 pixels', async ({ visitor }) => {
  const id = await storeGuest(desk)
  await desk.sql`update public.retreat_applications set linkedin = ${'w'.repeat(300)}`
  const page = await desk.open(visitor, `/applications/${id}/all`, { viewport: { width: 360, height: 700 } })
  await page.getByText('w'.repeat(300)).first().waitFor()
  expect(await overflow(page)).toEqual({ scroll: 0, wide: [] })
})
