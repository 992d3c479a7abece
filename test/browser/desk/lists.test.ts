import type { Locator } from 'playwright-core'
import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { beginEdition } from '../../support/editions.ts'
import { storeLetter } from '../../support/letters.ts'
import { activateWindow, settle } from '../../support/refresh.ts'
import { resize } from '../../support/resize.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

test('another list takes two calls, one of which brings the counts and changes, and no new rows are offered', async ({
  visitor,
}) => {
  await desk.store(people(120))
  const requests: string[] = []
  const page = await desk.open(visitor, '/?status=all', {
    prepare: async (opened) => {
      opened.on('request', (request) => {
        const [, name] = /\/rpc\/(desk_(?!me$)\w+)$/.exec(request.url()) ?? []
        if (name !== undefined) requests.push(name)
      })
    },
  })
  const { names, tabs, tab } = getDesk(page)
  await expect.poll(async () => (await tabs()).at(-1)).toBe('All 120')
  expect(await names()).toHaveLength(50)
  expect(await page.locator('.list-news').count()).toBe(0)
  await expect.poll(() => requests.length).toBe(4)
  await settle(page)
  requests.length = 0
  await tab('New').click()
  await expect.poll(() => requests.length).toBe(2)
  await settle(page)
  expect(requests.toSorted()).toEqual(['desk_list', 'desk_refresh'])
})

// break: tabs-move-during-press
test('a tab that appears during a press does not move the others away from under the pointer', async ({
  visitor,
}) => {
  const stored = await desk.store(people(2))
  const page = await desk.open(visitor)
  const { tab, tabs } = getDesk(page)
  await settle(page)
  await tab('All').hover()
  await page.mouse.down()
  await desk.setStatus(stored.slice(0, 1), 'aside')
  await activateWindow(page)
  await settle(page)
  await page.mouse.up()
  await page.waitForURL(/status=all/)
  await expect.poll(tabs).toContain('Put aside 1')
})

test('a click with Shift ticks or unticks all boxes since the last clicked one', async ({ visitor }) => {
  await desk.store(people(6))
  const page = await desk.open(visitor)
  const { names, row, select, bar } = getDesk(page)
  const shift = { modifiers: ['Shift' as const] }
  const checked = () =>
    page.locator('tbody tr', { has: page.getByRole('checkbox', { checked: true }) }).locator('.rows-name a')
  await expect.poll(names).toHaveLength(6)
  await select('Person 2').click()
  // Click beside the box, as a finger may.
  await row('Person 5')
    .locator('.rows-select label')
    .click({ ...shift, position: { x: 3, y: 3 } })
  await bar.getByText('4 selected', { exact: true }).waitFor()
  expect(await checked().allTextContents()).toEqual(['Person 2', 'Person 3', 'Person 4', 'Person 5'])
  await select('Person 4').click(shift)
  await bar.getByText('2 selected', { exact: true }).waitFor()
  await select('Person 1').click(shift)
  await expect
    .poll(() => checked().allTextContents())
    .toEqual(['Person 1', 'Person 2', 'Person 3', 'Person 4'])
})

test('when a dialog of the list closes, the focus is on the heading, or on the row that follows', async ({
  visitor,
}) => {
  const stored = await desk.store([
    ...people(2),
    ...Array.from({ length: 4 }, (_, index) => ({
      first_name: 'Bot',
      email: `bot@s${index}.example`,
      reason: 'Best SEO',
    })),
  ])
  const page = await desk.open(visitor)
  const { button, dialog, names, select } = getDesk(page)
  await button('4 look like junk…').click()
  await dialog.getByRole('button', { name: 'Put aside 4' }).click()
  await dialog.getByRole('heading', { name: 'Nothing looks like junk' }).waitFor()
  await expect.poll(() => focused(page)).toBe('BUTTON: Close')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.poll(() => focused(page)).toBe('H1: Applications')

  await select('Person 1').check()
  await button('Draft letters…').click()
  await dialog.getByRole('heading', { name: 'Draft a letter to Person 1' }).waitFor()
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  await activateWindow(page)
  await expect.poll(names).toEqual(['Person 2'])
  await dialog.getByLabel('Template').selectOption('Accepted')
  await dialog.getByRole('button', { name: 'Draft 1 letter' }).click()
  await dialog.getByText('already had one').first().waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.poll(() => focused(page)).toContain('Person 2')
})

test('on a phone, neither the suggestion of junk nor the choice of retreats covers the heading', async ({
  visitor,
}) => {
  await desk.store([
    ...people(1),
    ...Array.from({ length: 60 }, (_, index) => ({ email: `bot@s${index}.example`, reason: 'Best SEO' })),
  ])
  const page = await desk.open(visitor)
  const { button, heading } = getDesk(page)
  /** Pixels between the words of the heading and the control beside or below it. */
  const expectApart = async (control: Locator) => {
    await control.waitFor()
    for (const width of [320, 360, 390, 411, 480]) {
      await resize(page, { width, height: 640 })
      const words = await heading('Applications').evaluate((element) => {
        const range = document.createRange()
        range.selectNodeContents(element)
        return range.getBoundingClientRect()
      })
      const box = await control.boundingBox()
      expect(box && (box.x > words.right || box.y > words.bottom), `${width} px`).toBe(true)
      expect(box?.x && box.x + box.width, `${width} px`).toBeLessThanOrEqual(width)
    }
  }
  await expectApart(button('60 look like junk…'))
  await beginEdition(desk.sql, 'The retreat by the lake in the autumn')
  await page.reload()
  await expectApart(page.getByLabel('Retreat', { exact: true }))
})

test.for([
  [1280, 720],
  [390, 844],
])(
  'changes to visible rows never make them taller: %i px wide',
  async ([width = 0, height = 0], { visitor }) => {
    // Each name wraps to a second line at a different width.
    const names = Array.from({ length: 12 }, (_, index) => ({
      first_name: 'Ada',
      last_name: Array.from({ length: 3 + index }, () => 'Lie').join(' '),
    }))
    const stored = await desk.store(names)
    const page = await desk.open(visitor, '/?status=all')
    await resize(page, { width, height })
    const heights = () =>
      page.locator('tbody tr').evaluateAll((rows) => rows.map((each) => each.getBoundingClientRect().height))
    await expect.poll(heights).toHaveLength(12)
    const before = await heights()
    await desk.setStatus(stored, 'shortlisted')
    await activateWindow(page)
    await expect.poll(() => page.locator('.decisions-pill[data-status=shortlisted]').count()).toBe(12)
    expect(await heights()).toEqual(before)
    await desk.setStatus(stored, 'accepted')
    for (const { id } of stored) {
      await storeLetter(desk.sql, id, { template: 'accepted', kind: 'decision', state: 'failed' })
    }
    await activateWindow(page)
    await expect.poll(() => page.getByText('Not delivered').count()).toBe(12)
    expect(await heights()).toEqual(before)
  },
)
